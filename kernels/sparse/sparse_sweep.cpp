// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/sparse_sweep.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return (a - ((a % b) + b) % b) / b; }

/// Tiles (in units of tiles) that hold a point of the region.
Box tiles_of(const Box& region, const Index3& tile) {
  Box tiles;
  for (int axis = 0; axis < axis_count; ++axis) {
    tiles.begin[axis] = floor_div(region.begin[axis], tile[axis]);
    tiles.end[axis] = floor_div(region.end[axis] - 1, tile[axis]) + 1;
  }
  return tiles;
}

/// Offsets of the inputs that an output takes, from those of the first; all take the same.
Box reach_of(const Operand& operand) {
  const WeightMatrix matrix = expand(operand);
  constexpr auto far = std::numeric_limits<std::int64_t>::max();
  Box reach{{far, far, far}, {-far, -far, -far}};
  for (std::size_t k = 0; k < matrix.columns(); ++k) {
    if (matrix.value(0, k) == 0.0) continue;
    const Index3 offset = matrix.inputs[k] - matrix.outputs[0];
    for (int axis = 0; axis < axis_count; ++axis) {
      reach.begin[axis] = std::min(reach.begin[axis], offset[axis]);
      reach.end[axis] = std::max(reach.end[axis], offset[axis] + 1);
    }
  }
  return reach;
}

bool inside(const Box& box, const Index3& p) { return contains(box, {p, p + Index3{1, 1, 1}}); }

}  // namespace

SparseSweep::SparseSweep(const Operand& operand, Precision precision, const OperandTerms& terms)
    : precision_(precision),
      tile_(operand.tile),
      outputs_(operand.outputs),
      inputs_(operand.inputs),
      reach_(reach_of(operand)) {
  const SplitOperand split = split_operand(operand, terms.element, terms.count);
  for (const Operand& term : split.terms) weight_terms_.push_back(pack(term, widest_mma(terms.element)));
  weight_scale_ = split.scale;
}

void SparseSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  const bool to_sums = out.precision() == Precision::fp32;
  if (in.precision() != precision_ || (out.precision() != precision_ && !to_sums))
    throw std::invalid_argument("sparse sweep: fields of another precision");
  if (region.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    if (to_sums)
      run<Storage, float>(in, out, region, source);
    else
      run<Storage, Storage>(in, out, region, source);
  });
}

template <class Storage, class Out>
void SparseSweep::run(const Field& in, Field& out, const Box& region, const Field* source) const {
  // Outside this box no output of the region has a weight; zero stands for data that is not there.
  const Box readable{region.begin + reach_.begin, region.end + reach_.end - Index3{1, 1, 1}};
  const Box tiles = tiles_of(region, tile_);
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < volume(tiles.extent()); first += mma_columns) {
    const TileGroup group = tile_group(tiles, first);
    const auto b = load<Storage>(in, readable, group);
    for (int block = 0; block < weight_terms_.front().blocks; ++block)
      store<Out>(multiply(b, block), block, out, region, source, group);
  }
}

SparseSweep::TileGroup SparseSweep::tile_group(const Box& tiles, std::int64_t first) const {
  TileGroup group;
  const Index3 extent = tiles.extent();
  for (; group.tiles < mma_columns && first < volume(extent); ++group.tiles, ++first) {
    const Index3 at = tiles.begin + Index3{first / (extent[1] * extent[2]), first / extent[2] % extent[1],
                                           first % extent[2]};
    group.origin[group.tiles] = {at[0] * tile_[0], at[1] * tile_[1], at[2] * tile_[2]};
  }
  return group;
}

template <class Storage>
std::vector<SparseSweep::BFragment> SparseSweep::load(const Field& in, const Box& readable,
                                                      const TileGroup& group) const {
  const MmaShape& mma = weight_terms_.front().mma;
  const std::size_t terms = weight_terms_.size(), steps = weight_terms_.front().steps;
  const int elements = mma.elements_per_word();
  std::vector<BFragment> b(terms * steps);
  for (std::size_t step = 0; step < steps; ++step) {
    for (int lane = 0; lane < warp_lanes; ++lane) {
      if (b_column(lane) >= group.tiles) continue;
      for (int word = 0; word < mma.b_registers() * elements; ++word) {
        const int i = word / elements, element = word % elements;
        const std::size_t k = step * mma.k + b_word(lane, i) * elements + element;
        if (k >= inputs_.size()) continue;
        const Index3 p = group.origin[b_column(lane)] + inputs_[k];
        if (!inside(readable, p)) continue;
        double rest = stored_value(*in.at<Storage>(p));
        for (std::size_t term = 0; term < terms; ++term)
          b[term * steps + step][lane][i] |= take_term(rest, mma.element) << (16 * element);
      }
    }
  }
  return b;
}

SparseSweep::DFragment SparseSweep::multiply(const std::vector<BFragment>& b, int block) const {
  const int terms = static_cast<int>(weight_terms_.size()), steps = weight_terms_.front().steps;
  DFragment d{};
  for (int order = terms - 1; order >= 0; --order) {  // the smallest products first
    for (int i = 0; i <= order; ++i) {
      const PackedOperand& weights = weight_terms_[i];
      for (int step = 0; step < steps; ++step)
        sparse_mma(weights.mma, weights.values_of(block, step, 0), weights.metadata_of(block, step, 0),
                   step % weights.mma.selectors(), b[(order - i) * steps + step], d);
    }
  }
  return d;
}

template <class Out>
void SparseSweep::store(const DFragment& d, int block, Field& out, const Box& region, const Field* source,
                        const TileGroup& group) const {
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const std::size_t m = block * mma_rows + c_row(lane, i);
      if (m >= outputs_.size() || c_column(lane, i) >= group.tiles) continue;
      const Index3 p = group.origin[c_column(lane, i)] + outputs_[m];
      if (!inside(region, p)) continue;
      const double added = source ? static_cast<double>(*source->at<float>(p)) : 0.0;
      *out.at<Out>(p) = to_storage<Out>(static_cast<double>(d[lane][i]) / weight_scale_ + added);
    }
  }
}

}  // namespace spsolve
