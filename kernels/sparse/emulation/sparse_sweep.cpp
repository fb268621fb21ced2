// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/sparse_sweep.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

/// Returns the tiles (in units of tiles) that hold a point of the region.
Box tiles_of(const Box& region, const Index3& tile) {
  Box tiles;
  for (int axis = 0; axis < axis_count; ++axis) {
    tiles.begin[axis] = floor_div(region.begin[axis], tile[axis]);
    tiles.end[axis] = floor_div(region.end[axis] - 1, tile[axis]) + 1;
  }
  return tiles;
}

/// Returns the offsets of the inputs that the first output uses. They are the same for all outputs.
Box reach_of(const Operand& operand) {
  const WeightMatrix matrix = expand(operand);
  Box reach;
  for (std::size_t k = 0; k < matrix.columns(); ++k) {
    if (matrix.value(0, k) == 0.0) continue;
    reach = hull(reach, matrix.inputs[k] - matrix.outputs[0]);
  }
  return reach;
}

}  // namespace

SparseSweep::SparseSweep(const SplitOperand& split, Precision precision, Precision element,
                         double source_factor)
    : precision_(precision),
      tile_(split.terms.front().tile),
      outputs_(split.terms.front().outputs),
      inputs_(split.terms.front().inputs),
      mma_(widest_mma(element)),
      terms_(static_cast<int>(split.terms.size())),
      weight_scale_(split.scale),
      term_scale_(split.term_scale),
      source_factor_(source_factor) {
  for (const Operand& term : split.terms)
    if (const Box reach = reach_of(term); !reach.empty())
      reach_ = hull(hull(reach_, reach.begin), reach.end - Index3{1, 1, 1});
  for (int order = terms_ - 1; order >= 0; --order)
    for (int i = 0; i <= order; ++i) products_.push_back({pack(split.terms[i], mma_), order - i});
}

void SparseSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  const bool to_sums = out.precision() == Precision::fp32;
  if (in.precision() != precision_ || (out.precision() != precision_ && !to_sums))
    throw std::invalid_argument("sparse sweep: fields of another precision");
  if (region.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    if (std::is_same_v<Storage, float> || !to_sums) return run<Storage, Storage>(in, out, region, source);
    run<Storage, float>(in, out, region, source);
  });
}

template <class Storage, class Out>
void SparseSweep::run(const Field& in, Field& out, const Box& region, const Field* source) const {
  // Outside this box no output of the region has a weight. Zero replaces missing data.
  const Box readable{region.begin + reach_.begin, region.end + reach_.end - Index3{1, 1, 1}};
  const Box tiles = tiles_of(region, tile_);
  const DataScale scale = scales_data() ? data_scale(*in.magnitude_bound()) : DataScale{1, 1};
  int largest = *out.magnitude_bound();
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::int64_t first = 0; first < volume(tiles.extent()); first += mma_columns) {
    const TileGroup group = tile_group(tiles, first);
    const auto b = load<Storage>(in, readable, group, scale);
    for (int block = 0; block < products_.front().weights.blocks; ++block)
      largest = std::max(largest, store<Out>(multiply(b, block), block, out, region, source, group, scale));
  }
  if (scales_data()) *out.magnitude_bound() = largest;
}

SparseSweep::TileGroup SparseSweep::tile_group(const Box& tiles, std::int64_t first) const {
  TileGroup group;
  const Index3 extent = tiles.extent();
  for (; group.tiles < mma_columns && first < volume(extent); ++group.tiles, ++first) {
    const Index3 at = tiles.begin + point_of(first, extent);
    group.origin[group.tiles] = {at[0] * tile_[0], at[1] * tile_[1], at[2] * tile_[2]};
  }
  return group;
}

template <class Storage>
std::vector<std::vector<SparseSweep::BFragment>> SparseSweep::load(const Field& in, const Box& readable,
                                                                   const TileGroup& group,
                                                                   const DataScale& scale) const {
  std::vector<std::vector<BFragment>> b(static_cast<std::size_t>(terms_));
  for (auto& fragments : b) fragments.resize(ceil_div(inputs_.size(), mma_.k));
  const int elements = mma_.elements_per_word();
  for (int tile = 0; tile < group.tiles; ++tile)
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const Index3 p = group.origin[tile] + inputs_[k];
      if (!contains(readable, p)) continue;
      double rest = double{scale.by} * stored_value(*in.at<Storage>(p));
      const int at = static_cast<int>(k) % mma_.k, word = at / elements;
      for (auto& fragments : b) {
        fragments[k / mma_.k][4 * tile + word % 4][word / 4] |= extract_term(rest, mma_.element)
                                                                << (16 * (at % elements));
        rest *= term_scale_;
      }
    }
  return b;
}

SparseSweep::DFragment SparseSweep::multiply(const std::vector<std::vector<BFragment>>& b, int block) const {
  DFragment sums{};
  for (int step = 0; step < products_.front().weights.steps; ++step) {
    const auto multiply_add = [&](const Product& product, DFragment& to) {
      sparse_mma(mma_, product.weights.values_of(block, step, 0), product.weights.metadata_of(block, step, 0),
                 step % mma_.selectors(), b[product.term][step], to);
    };
    if (terms_ == 1) {
      multiply_add(products_.front(), sums);
      continue;
    }
    DFragment larger{}, smaller{};
    for (const Product& product : products_)
      multiply_add(product, &product == &products_.back() ? larger : smaller);
    for (std::size_t lane = 0; lane < sums.size(); ++lane)
      for (std::size_t i = 0; i < sums[lane].size(); ++i)
        sums[lane][i] += larger[lane][i] + smaller[lane][i] / static_cast<float>(term_scale_);
  }
  return sums;
}

template <class Out>
int SparseSweep::store(const DFragment& d, int block, Field& out, const Box& region, const Field* source,
                       const TileGroup& group, const DataScale& scale) const {
  int largest = 0;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const std::size_t m = block * mma_rows + c_row(lane, i);
      if (m >= outputs_.size() || c_column(lane, i) >= group.tiles) continue;
      const Index3 p = group.origin[c_column(lane, i)] + outputs_[m];
      if (!contains(region, p)) continue;
      const double added = source ? source_factor_ * static_cast<double>(*source->at<float>(p)) : 0.0;
      const double value = static_cast<double>(d[lane][i]) * scale.inverse / weight_scale_ + added;
      *out.at<Out>(p) = to_storage<Out>(value);
      largest = std::max(largest, magnitude(static_cast<float>(value)));
    }
  }
  return largest;
}

}  // namespace spsolve
