// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/sliced_operand.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/conflict_graph.hpp"
#include "kernels/sparse/mma_shape.hpp"
#include "kernels/sparse/pair_order.hpp"

namespace spsolve {
namespace {

/// Returns the input points of one chunk that the outputs of a tile reach, extended in x to multiples of
/// `run`.
Box chunk_window(const Stencil& stencil, const Index3& tile, int run) {
  Box window = window_of(stencil, tile);
  window.end[0] = window.begin[0] + tile[0];
  window.begin[x_axis] = round_down(window.begin[x_axis], run);
  window.end[x_axis] = round_up(window.end[x_axis], run);
  return window;
}

/// Returns one weight matrix per slice, with columns in the order of points_of(window).
std::vector<WeightMatrix> slice_matrices(const Stencil& stencil, const Index3& tile, const Box& window) {
  const Index3 extent = window.extent();
  const std::int64_t planes = tap_box(stencil).extent()[0] + tile[0] - 1;
  const WeightMatrix empty{points_of(box_of(tile)), points_of(window),
                           std::vector<double>(static_cast<std::size_t>(volume(tile) * volume(extent)))};
  std::vector<WeightMatrix> matrices(static_cast<std::size_t>(ceil_div(planes, tile[0])), empty);
  for (std::size_t m = 0; m < empty.rows(); ++m) {
    for (const Tap& tap : stencil.taps()) {
      Index3 p = empty.outputs[m] + tap.offset - window.begin;
      WeightMatrix& slice = matrices[static_cast<std::size_t>(p[0] / tile[0])];
      p[0] %= tile[0];
      slice.value(m, static_cast<std::size_t>(index_of(p, extent))) = tap.weight;
    }
  }
  return matrices;
}

/// Returns a matrix that is non-zero where any slice is.
WeightMatrix used_by_any(const std::vector<WeightMatrix>& slices) {
  WeightMatrix used = slices.front();
  for (std::size_t i = 0; i < used.values.size(); ++i)
    used.values[i] = std::ranges::any_of(slices, [&](const auto& s) { return s.values[i] != 0; });
  return used;
}

/// Returns the set of slices that have weights for each node; a node is a run of columns.
std::vector<boost::dynamic_bitset<>> slices_of_nodes(const std::vector<WeightMatrix>& slices, int run) {
  std::vector<boost::dynamic_bitset<>> found(slices.front().columns() / run,
                                             boost::dynamic_bitset<>(slices.size()));
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const ConflictGraph graph(slices[s], run);
    for (std::size_t node = 0; node < found.size(); ++node) found[node][s] = graph.rows()[node].any();
  }
  return found;
}

/// Pairs nodes at a fixed distance in x; the remaining ones are matched in the same way along y. No output
/// uses both nodes of a pair, by SparStencil's theorem 1. Nodes are the points of the window, x fastest,
/// including unused ones.
NodePairs match_along_x(const WeightMatrix& used, const Index3& nodes, const ConflictGraph& graph) {
  const int columns = static_cast<int>(nodes[2]), lines = static_cast<int>(nodes[0] * nodes[1]);
  const auto apart = [&](int distance) {  // along x
    for (int line = 0; line < lines; ++line)
      for (int x = 0; x + distance < columns; ++x)
        if (graph.conflict(line * columns + x, line * columns + x + distance)) return false;
    return true;
  };
  int distance = (columns + 1) / 2;
  while (distance < columns && !apart(distance)) ++distance;
  NodePairs pairs;
  std::vector<bool> taken(used.columns());
  const auto pair_up = [&](int step, int count) {
    for (int node = 0; node + step < count; ++node)
      if (!taken[node] && !taken[node + step] && !graph.conflict(node, node + step)) {
        taken[node] = taken[node + step] = true;
        pairs.emplace_back(node, node + step);
      }
  };
  const int count = lines * columns;
  for (int line = 0; line < lines; ++line)
    for (int x = 0; x + distance < columns; ++x) {
      const int node = line * columns + x;
      if (taken[node]) continue;
      taken[node] = taken[node + distance] = true;
      pairs.emplace_back(node, node + distance);
    }
  for (int rows = (lines + 1) / 2; rows < lines; ++rows) pair_up(rows * columns, count);
  for (int node = 0; node < count; ++node)
    if (!taken[node]) pairs.emplace_back(node, unpaired);
  return pairs;
}

NodePairs match_any(const ConflictGraph& graph) {
  const Matching matching = blossom_matching(graph);
  NodePairs pairs = matching.pairs;
  for (const int node : matching.unmatched) pairs.emplace_back(node, unpaired);
  return pairs;
}

/// Turns pairs of nodes (a node is a run of columns) into a K-order. Two pairs make a register of B, one word
/// for each lane of a quad. If tiles are 16 columns wide, pair j of the first half goes with pair j of the
/// second, so that neighbouring registers hold neighbouring points and load together. Otherwise neighbouring
/// pairs share a register, which keeps the lanes of narrower tiles in different banks.
std::vector<int> order_of(const NodePairs& pairs, int run, const Index3& tile) {
  const bool by_halves = tile[x_axis] >= mma_rows;
  std::vector<int> order;
  const auto put = [&](int node, bool zero) {
    for (int k = 0; k < run; ++k) order.push_back(zero ? zero_column(run * node + k) : run * node + k);
  };
  const std::size_t half = (pairs.size() + 1) / 2;
  for (std::size_t j = 0; j < half; ++j)
    for (const std::size_t i : {by_halves ? j : 2 * j, by_halves ? j + half : 2 * j + 1}) {
      const bool there = i < pairs.size();
      const auto [a, b] = there ? pairs[i] : pairs.back();
      put(a, !there);
      put(b == unpaired ? a : b, !there || b == unpaired);
    }
  return order;
}

/// Sorts pairs so that those used by many slices come first. The other slices then need fewer instructions.
NodePairs by_slices(NodePairs pairs, const std::vector<boost::dynamic_bitset<>>& slices_of) {
  const auto key = [&](const std::pair<int, int>& pair) {
    const auto [a, b] = pair;
    const std::size_t slices = (b == unpaired ? slices_of[a] : slices_of[a] | slices_of[b]).count();
    return std::pair{-static_cast<std::ptrdiff_t>(slices), pair};
  };
  std::ranges::sort(pairs, {}, key);
  return pairs;
}

/// Improves the order of pairs if each tile of an instruction has 16 bytes of a row. The words of one tile
/// then lie in one of four classes of banks.
NodePairs spread_over_banks(NodePairs pairs, int run, const Index3& tile, const Box& window,
                            const std::vector<boost::dynamic_bitset<>>& slices_of,
                            const ConflictGraph& graph) {
  constexpr std::size_t max_pairs = 128, max_slices = 64;
  if (tile[x_axis] != 4 * run || pairs.size() > max_pairs || slices_of.front().size() > max_slices)
    return pairs;
  const std::int64_t first = window.begin[x_axis] / run, columns = window.extent()[x_axis] / run;
  NodeCosts costs;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    costs.bank.push_back(static_cast<int>(wrap(first + static_cast<std::int64_t>(node) % columns, 4)));
    costs.slices.push_back(slices_of[node].to_ulong());
  }
  return improved_order(std::move(pairs), graph, costs);
}

SlicedOperand sliced(const std::vector<WeightMatrix>& matrices, const std::vector<int>& order,
                     const Index3& tile, Sparsity sparsity) {
  const Operand pattern = compress(order_columns(used_by_any(matrices), order), tile, sparsity);
  SlicedOperand result{tile, {}};
  for (const WeightMatrix& matrix : matrices) {
    const WeightMatrix ordered = order_columns(matrix, order);
    Operand slice = pattern;
    for (std::size_t m = 0; m < slice.rows(); ++m)
      for (std::size_t c = 0; c < slice.compressed_columns(); ++c) {
        const std::size_t at = m * slice.compressed_columns() + c;
        const std::size_t k = c / sparsity.kept * sparsity.group + slice.indices[at];
        slice.values[at] = k < ordered.columns() ? ordered.value(m, k) : 0.0;
      }
    result.slices.push_back(std::move(slice));
  }
  return result;
}

SlicedOperand swapped(const Stencil& stencil, const Index3& tile, int run, Sparsity sparsity) {
  constexpr int loaded = 8;  // points that a lane loads at once if the window has room for them
  const int length = static_cast<int>(tile[x_axis]), per_line = 2 * length / run;
  Box window = chunk_window(stencil, tile, run);
  if (const auto begin = round_down(window.begin[x_axis], loaded);
      run > 1 && window.end[x_axis] <= begin + 2 * length)
    window.begin[x_axis] = begin;
  window.end[x_axis] = window.begin[x_axis] + 2 * length;
  const auto matrices = slice_matrices(stencil, tile, window);
  NodePairs pairs;
  for (int line = 0; line < static_cast<int>(window.extent()[1]); ++line)
    for (int x = 0; x < length / run; ++x)
      pairs.emplace_back(line * per_line + x, line * per_line + x + length / run);
  return sliced(matrices, order_of(by_slices(std::move(pairs), slices_of_nodes(matrices, run)), run, tile),
                tile, sparsity);
}

SlicedOperand morphed(const Stencil& stencil, const Index3& tile, int run, Sparsity sparsity) {
  const Box window = chunk_window(stencil, tile, run);
  const auto matrices = slice_matrices(stencil, tile, window);
  const WeightMatrix used = used_by_any(matrices);
  const ConflictGraph graph(used, run);
  Index3 nodes = window.extent();
  nodes[x_axis] /= run;
  NodePairs pairs = match_along_x(used, nodes, graph);

  std::vector<int> kept;  // nodes that any output uses
  for (std::size_t node = 0; node < graph.size(); ++node)
    if (graph.rows()[node].any()) kept.push_back(static_cast<int>(node));
  std::erase_if(pairs, [&](const auto& pair) {
    return graph.rows()[pair.first].none() && (pair.second == unpaired || graph.rows()[pair.second].none());
  });
  if (const auto most = (kept.size() + 1) / 2; pairs.size() > most) {
    std::vector<int> columns;
    for (const int node : kept)
      for (int k = 0; k < run; ++k) columns.push_back(run * node + k);
    NodePairs matched = match_any(ConflictGraph(order_columns(used, columns), run));
    for (auto& [a, b] : matched) a = kept[a], b = b == unpaired ? unpaired : kept[b];
    if (matched.size() < pairs.size()) pairs = std::move(matched);
  }
  const auto slices_of = slices_of_nodes(matrices, run);
  pairs = spread_over_banks(by_slices(std::move(pairs), slices_of), run, tile, window, slices_of, graph);
  return sliced(matrices, order_of(pairs, run, tile), tile, sparsity);
}

/// Returns the instructions of the larger k per chunk of 128 outputs; a smaller one at the end counts as 2/3.
/// Among equals, fewer and wider loads win.
double cost_of(const SlicedOperand& operand, Precision element) {
  const int registers = b_registers(operand, element);
  const double steps = registers / 4 + (registers % 4 == 0 ? 0.0 : registers % 4 <= 2 ? 0.67 : 1.0);
  const double loads = 1e-3 / registers_per_load(operand, element, 0, registers);
  return (steps + loads) * static_cast<double>(operand.slices.size()) *
         static_cast<double>(ceil_div(volume(operand.tile), mma_rows) * mma_rows) /
         static_cast<double>(volume(operand.tile));
}

}  // namespace

Stencil in_march_axes(const Stencil& stencil, int dimensions) {
  if (dimensions != 2) return stencil;
  const auto turned = [](const Index3& p) { return Index3{p[y_axis], p[z_axis], p[x_axis]}; };
  const Index3 radius = turned(stencil.radius()), extent = 2 * radius + Index3{1, 1, 1};
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  for (const Tap& tap : stencil.taps())
    weights[static_cast<std::size_t>(index_of(turned(tap.offset) + radius, extent))] = tap.weight;
  return {extent, weights, radius};
}

std::vector<Index3> marching_tiles(bool rows) {
  std::vector<Index3> tiles;
  for (std::int64_t columns = mma_rows; columns >= (rows ? 4 : mma_rows); columns /= 2)
    tiles.push_back({1, mma_rows / columns, columns});
  return tiles;
}

SlicedOperand slice_sparse(const Stencil& stencil, Layout layout, Precision element, bool rows) {
  const MmaShape mma = widest_mma(element);
  const int run = mma.elements_per_word();
  const std::int64_t width = tap_box(stencil).extent()[x_axis];
  std::optional<SlicedOperand> cheapest;
  const auto offer = [&](SlicedOperand candidate) {
    if (!cheapest || cost_of(candidate, element) < cost_of(*cheapest, element))
      cheapest = std::move(candidate);
  };
  for (const Index3& tile : marching_tiles(rows)) {
    if (layout == Layout::morph) offer(morphed(stencil, tile, run, mma.sparsity()));
    // For one row, points L apart are a valid matching too.
    if ((layout == Layout::strided_swap || (layout == Layout::morph && !rows)) && tile[x_axis] > width)
      offer(swapped(stencil, tile, run, mma.sparsity()));
  }
  if (layout == Layout::strided_swap && !cheapest)
    offer(swapped(stencil, {1, 1, ceil_div(width + 1, mma_rows) * mma_rows}, run, mma.sparsity()));
  if (!cheapest)
    throw std::invalid_argument(std::string(to_string(layout)) + " has no slices for sparse tensor cores");
  return *cheapest;
}

SlicedOperand slice_tile(const Stencil& stencil, const Index3& tile, Precision element) {
  const MmaShape mma = widest_mma(element);
  return morphed(stencil, tile, mma.elements_per_word(), mma.sparsity());
}

int instructions_with_weights(const SlicedOperand& sliced, Precision element) {
  const MmaShape mma = widest_mma(element);
  const std::size_t step = static_cast<std::size_t>(mma.k * mma.sparsity().kept / mma.sparsity().group);
  int count = 0;
  for (const Operand& slice : sliced.slices) {
    const std::size_t columns = slice.compressed_columns();
    std::vector<bool> used(ceil_div(columns, step));
    for (std::size_t i = 0; i < slice.values.size(); ++i)
      if (slice.values[i] != 0) used[i % columns / step] = true;
    count += static_cast<int>(std::ranges::count(used, true));
  }
  return count;
}

SlicedOperand slice_dense(const Stencil& stencil, bool planes, bool rows) {
  std::optional<SlicedOperand> cheapest;
  for (const Index3& tile : {Index3{1, 1, 8}, Index3{2, 1, 4}, Index3{4, 1, 2}, Index3{1, 2, 4},
                             Index3{2, 2, 2}, Index3{1, 4, 2}}) {
    if ((tile[0] > 1 && !planes) || (tile[1] > 1 && !rows)) continue;
    const auto matrices = slice_matrices(stencil, tile, chunk_window(stencil, tile, 1));
    const WeightMatrix used = used_by_any(matrices);
    std::vector<int> order;
    for (int k = 0; k < static_cast<int>(used.columns()); ++k)
      for (std::size_t m = 0; m < used.rows(); ++m)
        if (used.value(m, static_cast<std::size_t>(k)) != 0) {
          order.push_back(k);
          break;
        }
    SlicedOperand candidate = sliced(matrices, order, tile, dense);
    const auto work = [](const SlicedOperand& operand) {  // instructions take 4, 2 or 1 registers
      const int registers = b_registers(operand, Precision::fp64);
      return operand.slices.size() * (registers % 4 == 3 ? registers + 1 : registers);
    };
    if (!cheapest || work(candidate) < work(*cheapest)) cheapest = std::move(candidate);
  }
  return *cheapest;
}

int registers_per_load(const SlicedOperand& sliced, Precision element, int first, int count) {
  if (elements_per_word(element) != 2) return 1;
  const std::vector<Index3>& inputs = sliced.first().inputs;
  const auto input = [&](int r, int q) { return inputs.at(8 * r + 2 * q); };
  const auto possible = [&](int registers) {
    if (count < registers || (first + registers) * 8 > static_cast<int>(inputs.size()) ||
        sliced.tile[x_axis] % (2 * registers) != 0)
      return false;
    for (int q = 0; q < 4; ++q)
      for (int i = 0; i < registers; ++i)
        if (input(first, q)[x_axis] % (2 * registers) != 0 ||
            input(first + i, q) != input(first, q) + Index3{0, 0, 2 * i})
          return false;
    return true;
  };
  return possible(4) ? 4 : possible(2) ? 2 : 1;
}

int b_registers(const SlicedOperand& sliced, Precision element) {
  return ceil_div(static_cast<int>(sliced.first().columns()), 4 * elements_per_word(element));
}

}  // namespace spsolve
