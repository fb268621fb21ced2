// SPDX-License-Identifier: Apache-2.0
//
// Matchings must be valid, and none may have fewer zero columns. They are compared with brute force on small
// graphs and with the count of the theorem.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "kernels/catalogue/presets.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/layout_explorer.hpp"
#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/pair_order.hpp"
#include "kernels/sparse/sliced_operand.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

void expect_valid(const Matching& matching, const ConflictGraph& graph) {
  std::set<int> seen(matching.unmatched.begin(), matching.unmatched.end());
  ASSERT_EQ(seen.size(), matching.unmatched.size());
  for (const auto& [a, b] : matching.pairs) {
    EXPECT_FALSE(graph.conflict(a, b)) << a << " and " << b;
    EXPECT_TRUE(seen.insert(a).second);
    EXPECT_TRUE(seen.insert(b).second);
  }
  EXPECT_EQ(seen.size(), graph.size());
}

/// Returns the fewest unmatched nodes, found by trying every matching.
std::size_t brute_force(const ConflictGraph& graph, std::vector<bool> used, std::size_t node = 0) {
  while (node < graph.size() && used[node]) ++node;
  if (node == graph.size()) return 0;
  used[node] = true;
  std::size_t fewest = 1 + brute_force(graph, used, node + 1);
  for (std::size_t other = node + 1; other < graph.size(); ++other) {
    if (used[other] || graph.conflict(node, other)) continue;
    used[other] = true;
    fewest = std::min(fewest, brute_force(graph, used, node + 1));
    used[other] = false;
  }
  return fewest;
}

WeightMatrix random_matrix(std::mt19937_64& random, std::size_t rows, std::size_t columns, double share) {
  WeightMatrix matrix{std::vector<Index3>(rows), std::vector<Index3>(columns),
                      std::vector<double>(rows * columns)};
  for (double& value : matrix.values) value = std::bernoulli_distribution(share)(random) ? 1.0 : 0.0;
  return matrix;
}

TEST(Blossom, IsMinimalOnSmallGraphs) {
  std::mt19937_64 random(1);
  for (int which = 0; which < 400; ++which) {
    const std::size_t columns = 1 + static_cast<std::size_t>(which) % 10;
    const ConflictGraph graph(random_matrix(random, 1 + which % 7, columns, 0.1 + 0.05 * (which % 9)));
    const Matching matching = blossom_matching(graph);
    expect_valid(matching, graph);
    EXPECT_EQ(matching.zero_nodes(), brute_force(graph, std::vector<bool>(columns, false)));
    EXPECT_LE(min_zero_nodes(graph), matching.zero_nodes());
  }
}

/// Returns the number of columns that theorem 2 leaves unmatched: those in conflict with every other, which
/// are the middle 2k - n points of each axis.
std::int64_t middle(const Index3& window, const Index3& kernel) {
  std::int64_t columns = 1;
  for (int axis = 0; axis < axis_count; ++axis)
    columns *= std::max<std::int64_t>(0, 2 * kernel[axis] - window[axis]);
  return columns;
}

/// Counts, over all registers of two pairs, how many words share a bank with another word of the register.
int shared_banks(const NodePairs& pairs, const std::vector<int>& bank) {
  int shared = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    std::array<int, 4> words{};
    for (std::size_t k = i; k < std::min(pairs.size(), i + 2); ++k)
      for (const int node : {pairs[k].first, pairs[k].second})
        if (node != unpaired) ++words[bank[node]];
    shared += *std::max_element(words.begin(), words.end()) - 1;
  }
  return shared;
}

TEST(PairOrder, ExchangesNodesWithoutConflictForFewerInstructionsAndLoads) {
  std::mt19937_64 random(11);
  int less = 0;
  for (int which = 0; which < 60; ++which) {
    const std::size_t nodes = 10 + random() % 40;
    const ConflictGraph graph(random_matrix(random, 8, nodes, 0.15));
    NodeCosts costs;
    for (std::size_t node = 0; node < nodes; ++node) {
      costs.bank.push_back(static_cast<int>(random() % 4));
      costs.slices.push_back(std::uint64_t{1} << (which % 2 ? random() % 5 : 63));
    }
    const Matching matching = blossom_matching(graph);
    NodePairs pairs = matching.pairs;
    for (const int node : matching.unmatched) pairs.emplace_back(node, unpaired);
    const NodePairs found = improved_order(pairs, graph, costs);
    ASSERT_EQ(found.size(), pairs.size());
    Matching kept;
    for (const auto& [a, b] : found) {
      if (b == unpaired)
        kept.unmatched.push_back(a);
      else
        kept.pairs.emplace_back(a, b);
    }
    expect_valid(kept, graph);
    if (which % 2) continue;
    EXPECT_LE(shared_banks(found, costs.bank), shared_banks(pairs, costs.bank));
    less += shared_banks(found, costs.bank) < shared_banks(pairs, costs.bank);
  }
  EXPECT_GT(less, 20);
}

TEST(TwoLevel, HasTheCountOfTheTheoremAndNoMatchingHasFewer) {
  for (std::int64_t ky = 1; ky <= 7; ++ky)
    for (std::int64_t kx = 1; kx <= 7; ++kx)
      for (std::int64_t r2 = 1; r2 <= 4; ++r2)
        for (std::int64_t r1 = 1; r1 <= 8; ++r1) {
          const Stencil box({1, ky, kx}, std::vector<double>(ky * kx, 1.0), {0, ky / 2, kx / 2});
          const Index3 kernel{1, ky, kx}, tile{1, r2, r1}, window{1, ky + r2 - 1, kx + r1 - 1};
          const WeightMatrix matrix = crush(box, tile);
          const ConflictGraph graph(matrix);
          const Matching staircase = two_level_matching(window, kernel);
          expect_valid(staircase, graph);
          const std::size_t fewest = blossom_matching(graph).zero_nodes();
          // Theorem 2 holds if no axis leaves an odd slab whose points could find partners in other slabs.
          if (window[1] <= 2 * ky && window[2] <= 2 * kx) {
            EXPECT_EQ(staircase.zero_nodes(), static_cast<std::size_t>(middle(window, kernel)));
            EXPECT_EQ(staircase.zero_nodes(), fewest);
            EXPECT_EQ(min_zero_nodes(graph), fewest);
          }
          EXPECT_GE(staircase.zero_nodes(), fewest);
          EXPECT_EQ(match_columns(box, tile).matching.zero_nodes(), fewest) << ky << kx << r2 << r1;
        }
}

TEST(TwoLevel, MatchesPlanesRowsAndPointsIn3D) {
  for (std::int64_t k = 1; k <= 3; ++k)
    for (const Index3& tile :
         {Index3{1, 1, 1}, Index3{1, 2, 8}, Index3{2, 2, 4}, Index3{2, 2, 2}, Index3{3, 1, 5}}) {
      const Stencil box({k, k, k}, std::vector<double>(k * k * k, 1.0), {0, 0, 0});
      const Index3 window = Index3{k, k, k} + tile - Index3{1, 1, 1};
      const ConflictGraph graph(crush(box, tile));
      const Matching staircase = two_level_matching(window, {k, k, k});
      expect_valid(staircase, graph);
      EXPECT_EQ(match_columns(box, tile).matching.zero_nodes(), blossom_matching(graph).zero_nodes());
    }
}

TEST(Morph, LeavesNoMoreZeroColumnsThanNeeded) {
  // Heat-2D, one row of eight outputs: every used column except the middle ones finds a partner.
  const Stencil star({1, 3, 3}, {0, 1, 0, 1, 1, 1, 0, 1, 0}, {0, 1, 1});
  const auto found = match_columns(star, {1, 1, 8});
  EXPECT_EQ(found.matching.zero_nodes(), blossom_matching(ConflictGraph(found.matrix)).zero_nodes());
  EXPECT_EQ(found.matrix.columns(), 10u + 2 * 8u);
}

TEST(Morph, LeavesNoMorePairsOfNeighboursAloneThanNeeded) {
  std::mt19937_64 random(6);
  int small = 0;
  while (small < 200) {
    const Stencil stencil = testing::random_zoo_stencil(random).stencil;
    const Index3 tile = testing::random_tile(random, stencil, true);
    Box window = window_of(stencil, tile);
    window.begin[x_axis] = round_down(window.begin[x_axis], 2);
    window.end[x_axis] = round_up(window.end[x_axis], 2);
    const ConflictGraph pairs(
        without_zero_columns(weight_matrix(stencil, points_of(box_of(tile)), points_of(window)), 2), 2);
    if (pairs.size() > 11) continue;
    ++small;
    const std::size_t zero_pairs = brute_force(pairs, std::vector<bool>(pairs.size(), false));
    EXPECT_EQ(morph(stencil, tile, Pairing::x_pairs).columns(), 2 * (pairs.size() + zero_pairs));
  }
}

TEST(Morph, MatchesWindowsTooLargeToLookAtAllPairs) {
  const Index3 extent{15, 15, 15};
  std::mt19937_64 random(5);
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  for (double& weight : weights) weight = random() % 3 == 0;
  weights.front() = weights.back() = 1;
  const auto found = match_columns(Stencil(extent, weights, {7, 7, 7}), {1, 2, 8});
  EXPECT_EQ(found.matrix.columns(), 15u * 16 * 22);
  expect_valid(found.matching, ConflictGraph(found.matrix));
  EXPECT_EQ(2 * found.matching.pairs.size() + found.matching.zero_nodes(), found.matrix.columns());
}

/// Checks the equations for a box of weights; returns how many tiles were offered.
std::size_t expect_equations(const Index3& kernel, const Index3& shape) {
  const Stencil box(kernel, std::vector<double>(static_cast<std::size_t>(volume(kernel)), 1.0), {0, 0, 0});
  const TensorRates rates{1e12, 4e12, 2e13};
  const auto candidates = explore_layouts(box, shape, m16n8k32_fp16, Precision::fp16, rates);
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  std::set<Index3> tiles;
  for (const LayoutCandidate& c : candidates) {
    EXPECT_TRUE(tiles.insert(c.tile).second);
    EXPECT_LE(c.m, 16);
    EXPECT_EQ(c.m, volume(c.tile));
    EXPECT_EQ(c.window, volume(kernel + c.tile - Index3{1, 1, 1}));
    EXPECT_EQ(c.k, c.window + c.zero_columns);  // a box uses its whole window
    std::int64_t tile_count = 1;
    for (int axis = 0; axis < axis_count; ++axis)
      tile_count *= (shape[axis] + c.tile[axis] - 1) / c.tile[axis];
    const std::int64_t steps = (c.k + 31) / 32;
    EXPECT_EQ(c.mma_count, steps * ((tile_count + 7) / 8));
    EXPECT_EQ(c.narrow_mma_count, (c.k + 15) / 16 * ((tile_count + 7) / 8));
    EXPECT_DOUBLE_EQ(c.density, real(volume(kernel) * c.m) / (16.0 * 16.0 * real(steps)));
    EXPECT_DOUBLE_EQ(c.compute_seconds, real(c.mma_count) / 1e12);
    const double moved = real(c.k) * (0.5 * real(c.m) + real(tile_count));
    EXPECT_DOUBLE_EQ(c.memory_seconds,
                     std::max(2 * 2.0 * real(volume(shape)) / 4e12, 2 * 2.0 * moved / 2e13));
    EXPECT_DOUBLE_EQ(c.seconds, std::max(c.compute_seconds, c.memory_seconds));
    EXPECT_GE(c.seconds, candidates.front().seconds);
    EXPECT_LE(c.density, 1.0);
  }
  return tiles.size();
}

TEST(Explorer, FollowsItsEquations) {
  EXPECT_EQ(expect_equations({1, 7, 7}, {1, 1000, 1001}), 50u);     // r1 r2 <= 16
  EXPECT_EQ(expect_equations({3, 5, 3}, {101, 1000, 1001}), 110u);  // r1 r2 r3 <= 16
}

/// Where memory alone binds, all tiles take the same time, and those with fewer instructions stand first.
TEST(Explorer, RanksTilesOfEqualTimeByInstructions) {
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  const Stencil box({1, 3, 3}, std::vector<double>(9, 1.0), {0, 1, 1});
  const auto candidates =
      explore_layouts(box, {1, 1000, 1001}, m16n8k32_fp16, Precision::fp16, {no_limit, 4e12, no_limit});
  const auto instructions = [](const LayoutCandidate& c) { return c.mma_count; };
  EXPECT_TRUE(std::ranges::is_sorted(candidates, {}, instructions));
  EXPECT_LT(candidates.front().mma_count, candidates.back().mma_count);
  EXPECT_EQ(candidates.front().seconds, candidates.back().seconds);
}

/// This checks the row of docs/papers.md on SparStencil's figure 9: instructions per 128 outputs of the best
/// tile, m16n8k32 and m16n8k16, and m16n8k32 of kernels.
TEST(Explorer, FindsTheInstructionsOfThePapersPage) {
  struct Row {
    const char* stencil;
    double wide, narrow;
    int of_kernels;
  };
  const Index3 shape{1, 10240, 10240};
  for (const Row& row : {Row{"box2d1r", 1.33, 2.67, 3}, Row{"box2d2r", 2.67, 5, 5}, Row{"box2d3r", 4, 7, 7},
                         Row{"box2d7r", 15, 29, 15}, Row{"star2d3r", 2, 4, 7}}) {
    const auto tiles = explore_layouts(make_preset(row.stencil, 2, {1, 1, 1}, {}), shape, m16n8k32_fp16,
                                       Precision::fp16, {1e12, 4e12, 2e13});
    const auto least = [&](std::int64_t LayoutCandidate::*count) {
      return 128.0 * static_cast<double>((*std::ranges::min_element(tiles, {}, count)).*count) /
             static_cast<double>(volume(shape));
    };
    EXPECT_NEAR(least(&LayoutCandidate::mma_count), row.wide, 5e-3) << row.stencil;
    EXPECT_NEAR(least(&LayoutCandidate::narrow_mma_count), row.narrow, 5e-3) << row.stencil;
    EXPECT_EQ(std::ranges::find_if(tiles, &LayoutCandidate::is_taken)->march_instructions, row.of_kernels)
        << row.stencil;
  }
}

/// Kernels, the emulation and `plan --layouts` name one tile, in the fewest instructions of a march.
TEST(Explorer, MarksTheTileThatKernelsAndTheEmulationTake) {
  std::mt19937_64 random(78);
  for (int which = 0; which < 6;) {
    const testing::ZooStencil zoo = testing::random_zoo_stencil(random);
    if (zoo.stencil.taps().size() > 50) continue;  // matching is slow
    const Index3 shape = std::array{Index3{99, 98, 97}, Index3{1, 37, 41}, Index3{1, 1, 1001}}[which % 3];
    if ((shape[z_axis] == 1 && zoo.stencil.radius()[z_axis] > 0) ||
        (shape[y_axis] == 1 && zoo.stencil.radius()[y_axis] > 0))
      continue;
    ++which;
    const int dimensions = shape[z_axis] > 1 ? 3 : shape[y_axis] > 1 ? 2 : 1;
    for (const MmaShape& mma : {m16n8k32_fp16, m16n8k16_tf32}) {
      int taken = 0, marching = 0;
      for (const LayoutCandidate& c :
           explore_layouts(zoo.stencil, shape, mma, mma.element, {1e12, 4e12, 2e13})) {
        marching += c.march_instructions > 0;
        if (!c.is_taken) continue;
        ++taken;
        const SlicedOperand run =
            slice_sparse(in_march_axes(zoo.stencil, dimensions), Layout::morph, mma.element, dimensions == 3);
        EXPECT_EQ(c.tile, run.tile) << zoo.name;
        EXPECT_EQ(c.march_instructions, instructions_with_weights(run, mma.element)) << zoo.name;
        EXPECT_EQ(c.tile, sparse_operand(zoo.stencil, Layout::morph, mma, shape).tile) << zoo.name;
      }
      EXPECT_EQ(taken, 1) << zoo.name;
      EXPECT_EQ(marching, dimensions == 3 ? 3 : 1) << zoo.name;
    }
  }
}

TEST(Explorer, FindsTheCheapestTileWithoutMatchingAll) {
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(77);
  for (int which = 0; which < 12;) {
    const testing::ZooStencil zoo = testing::random_zoo_stencil(random);
    if (zoo.stencil.taps().size() > 50) continue;  // matching is slow
    const Index3 shape = std::array{Index3{99, 98, 97}, Index3{1, 37, 41}, Index3{3, 17, 1001}}[which++ % 3];
    for (const MmaShape& mma : {m16n8k32_fp16, m16n8k16_tf32}) {
      // Candidates are ranked by instructions alone, and both functions prefer the first of equals.
      const auto all = explore_layouts(zoo.stencil, shape, mma, mma.element, {1.0, no_limit, no_limit});
      EXPECT_EQ(cheapest_tile(zoo.stencil, shape, mma), all.front().tile) << zoo.name;
    }
  }
}

}  // namespace
}  // namespace spsolve
