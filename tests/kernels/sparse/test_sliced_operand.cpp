// SPDX-License-Identifier: Apache-2.0
//
// Slices for a march must be the stencil, share one K-order and one set of metadata, and be as sparse as the
// hardware requires.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "kernels/catalogue/catalogue.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/conflict_graph.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/sliced_operand.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

/// Checks that every output takes each tap exactly once over all slices, from the correct input point.
void expect_stencil(const SlicedOperand& sliced, const Stencil& stencil) {
  std::map<Index3, double> taps;
  for (const Tap& tap : stencil.taps()) taps[tap.offset] = tap.weight;
  std::vector<std::map<Index3, double>> found(sliced.first().rows());
  for (std::size_t d = 0; d < sliced.slices.size(); ++d) {
    const Operand& slice = sliced.slices[d];
    EXPECT_EQ(slice.inputs, sliced.first().inputs);
    EXPECT_EQ(slice.indices, sliced.first().indices);
    const WeightMatrix matrix = expand(slice);
    for (std::size_t m = 0; m < matrix.rows(); ++m)
      for (std::size_t k = 0; k < matrix.columns(); ++k)
        if (matrix.value(m, k) != 0)
          found[m][matrix.inputs[k] + Index3{static_cast<std::int64_t>(d) * sliced.tile[0], 0, 0} -
                   matrix.outputs[m]] += matrix.value(m, k);
  }
  for (const auto& row : found) EXPECT_EQ(row, taps);
}

class SlicesOf : public ::testing::TestWithParam<int> {};

TEST_P(SlicesOf, AreTheStencil) {
  std::mt19937_64 random(4000u + static_cast<std::uint64_t>(GetParam()));
  const Stencil stencil = testing::random_zoo_stencil(random).stencil;
  const bool rows = stencil.radius()[1] > 0, planes = stencil.radius()[0] > 0;
  for (const Precision element : {Precision::fp16, Precision::tf32})
    for (const Layout layout : {Layout::morph, Layout::strided_swap}) {
      const SlicedOperand sliced = slice_sparse(stencil, layout, element, rows);
      expect_stencil(sliced, stencil);
      const int run = element == Precision::fp16 ? 2 : 1;
      for (std::size_t k = 0; k < sliced.first().columns(); k += run)
        EXPECT_EQ(sliced.first().inputs[k + run - 1], (sliced.first().inputs[k] + Index3{0, 0, run - 1}));
    }
  expect_stencil(slice_dense(stencil, planes, rows), stencil);
}

/// Returns one column per input point, with the largest weight of all slices there.
WeightMatrix used_by_any(const SlicedOperand& sliced, int run) {
  WeightMatrix used = expand(sliced.first());
  for (const Operand& slice : sliced.slices) {
    const WeightMatrix matrix = expand(slice);
    for (std::size_t at = 0; at < used.values.size(); ++at)
      used.values[at] = std::max(std::abs(used.values[at]), std::abs(matrix.values[at]));
  }
  return without_zero_columns(used, run);
}

TEST_P(SlicesOf, HaveTheFewestGroups) {
  std::mt19937_64 random(4000u + static_cast<std::uint64_t>(GetParam()));
  const Stencil stencil = testing::random_zoo_stencil(random).stencil;
  const bool rows = stencil.radius()[1] > 0;
  for (const Precision element : {Precision::fp16, Precision::tf32}) {
    const SlicedOperand sliced = slice_sparse(stencil, Layout::morph, element, rows);
    const int run = element == Precision::fp16 ? 2 : 1;
    const ConflictGraph graph(used_by_any(sliced, run), run);
    const auto groups = static_cast<int>((graph.size() + blossom_matching(graph).zero_nodes()) / 2);
    // A register of B holds two groups. A single row may fill up the four registers of an instruction.
    const int fewest = ceil_div(groups, 2), found = b_registers(sliced, element);
    EXPECT_TRUE(found == fewest || (!rows && found == ceil_div(fewest, 4) * 4)) << found << " not " << fewest;
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, SlicesOf, ::testing::Range(0, 100));

/// If tiles have 16 bytes of a row each, words of a quad whose places in a row differ by multiples of 16
/// bytes are read one after the other. Natural orders take 1.7 to 2.4 times as many reads as registers.
TEST(Slices, OfNarrowTilesAreReadFromDifferentBanks) {
  for (const auto& [preset, steps, element] : {std::tuple{"star3d1r", 3, Precision::fp16},
                                               {"star3d1r", 2, Precision::tf32},
                                               {"box3d1r", 2, Precision::fp16}}) {
    const Stencil stencil = fuse_steps(make_preset(preset, 3, {1, 1, 1}, {}), steps);
    const SlicedOperand sliced = slice_sparse(stencil, Layout::morph, element, true);
    const int run = element == Precision::fp16 ? 2 : 1;
    ASSERT_EQ(sliced.tile[x_axis], 4 * run);
    const auto& inputs = sliced.first().inputs;
    int reads = 0, registers = 0;
    for (std::size_t first = 0; first < inputs.size(); first += 4 * run, ++registers) {
      std::array<std::set<Index3>, 4> words;
      for (std::size_t k = first; k < std::min(inputs.size(), first + 4 * run); k += run)
        words[wrap(inputs[k][x_axis] / run, 4)].insert(inputs[k]);
      reads +=
          static_cast<int>(std::max_element(words.begin(), words.end(), [](const auto& a, const auto& b) {
                             return a.size() < b.size();
                           })->size());
    }
    EXPECT_LE(reads, 1.4 * registers) << preset << ' ' << to_string(element);
  }
}

TEST(Slices, TakeNoMoreInstructionsThanTheBestKnownLayouts) {
  const auto box = [](const Index3& radius) {
    const Index3 extent = 2 * radius + Index3{1, 1, 1};
    return Stencil(extent, std::vector<double>(static_cast<std::size_t>(volume(extent)), 1.0), radius);
  };
  const auto registers = [](const Stencil& stencil, bool rows) {
    return b_registers(slice_sparse(stencil, Layout::morph, Precision::fp16, rows), Precision::fp16);
  };
  EXPECT_LE(registers(box({1, 1, 1}), true), 6);
  EXPECT_LE(registers(box({2, 2, 2}), true), 9);
  EXPECT_LE(registers(box({7, 0, 7}), false), 4);
  EXPECT_LE(registers(box({0, 0, 7}), false), 4);
}

/// This is what docs/papers.md says of both layouts in 2D in 16 bits: they have the same sums, inputs and 2:4
/// groups.
TEST(Slices, OfBothLayoutsAreOneOperandForAllButOneStencilOfTheCatalogueIn2D) {
  std::vector<std::string> other;
  int stencils = 0;
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.dimensions != 2) continue;
    ++stencils;
    const Stencil stencil = in_march_axes(entry.stencil, 2);
    const auto parts = [&](Layout layout) {
      std::vector<std::tuple<std::vector<Index3>, std::vector<Index3>, std::vector<double>,
                             std::vector<std::uint8_t>>>
          all;
      for (const Operand& slice : slice_sparse(stencil, layout, Precision::fp16, false).slices)
        all.emplace_back(slice.outputs, slice.inputs, slice.values, slice.indices);
      return all;
    };
    if (parts(Layout::strided_swap) != parts(Layout::morph)) other.push_back(entry.name);
  }
  EXPECT_EQ(stencils, 62);
  EXPECT_EQ(other, std::vector<std::string>{"heat2d-rk4"});
}

constexpr Index3 wide{2, 1, 8}, square{2, 2, 4}, deep{4, 1, 4}, narrow{4, 2, 2};  // tiles of several planes

/// The table "Tiles of several planes" of docs/papers.md holds the instructions of the tile that kernels
/// take, and of tiles of several planes.
TEST(SlicesOfTiles, OfSeveralPlanesTakeAsManyInstructionsAsDocumented) {
  struct Row {
    const char* preset;
    int dimensions, steps, run;
    std::vector<std::pair<Index3, int>> several;
  };
  for (const Row& row : {Row{"star3d1r", 3, 3, 13, {{wide, 16}, {square, 14}, {deep, 16}, {narrow, 16}}},
                         Row{"star2d1r", 2, 7, 15, {{wide, 16}, {deep, 17}}},
                         Row{"star2d3r", 2, 2, 13, {{wide, 12}, {deep, 10}}},
                         Row{"box3d1r", 3, 2, 15, {{wide, 12}, {square, 12}, {deep, 16}, {narrow, 16}}}}) {
    const Stencil stencil = in_march_axes(
        fuse_steps(make_preset(row.preset, row.dimensions, {1, 1, 1}, {}), row.steps), row.dimensions);
    const auto count = [&](const SlicedOperand& sliced) {
      expect_stencil(sliced, stencil);
      return instructions_with_weights(sliced, Precision::fp16);
    };
    EXPECT_EQ(count(slice_sparse(stencil, Layout::morph, Precision::fp16, row.dimensions == 3)), row.run)
        << row.preset;
    for (const auto& [tile, instructions] : row.several)
      EXPECT_EQ(count(slice_tile(stencil, tile, Precision::fp16)), instructions) << row.preset;
  }
}

/// This checks the paragraph below that table. Among tiles of several planes the one with the fewest
/// instructions counts, and of equals the one with the fewest loads.
TEST(SlicesOfTiles, OfSeveralPlanesTakeFewerInstructionsInPartOfTheCatalogueAsDocumented) {
  int cases = 0, fewer = 0, without_more_loads = 0, with_twice_the_loads = 0;
  const auto costs = [](const SlicedOperand& sliced) {
    return std::pair(instructions_with_weights(sliced, Precision::fp16),
                     b_registers(sliced, Precision::fp16));
  };
  for (const CatalogueEntry& entry : catalogue())
    for (int steps = 1; steps <= 3 && entry.dimensions > 1; ++steps) {
      const bool rows = entry.dimensions == 3;
      const Stencil stencil = in_march_axes(fuse_steps(entry.stencil, steps), entry.dimensions);
      const auto [instructions, loads] = costs(slice_sparse(stencil, Layout::morph, Precision::fp16, rows));
      auto best = std::min(costs(slice_tile(stencil, wide, Precision::fp16)),
                           costs(slice_tile(stencil, deep, Precision::fp16)));
      if (rows)
        best = std::min({best, costs(slice_tile(stencil, square, Precision::fp16)),
                         costs(slice_tile(stencil, narrow, Precision::fp16))});
      ++cases;
      if (best.first >= instructions) continue;
      ++fewer;
      without_more_loads += best.second <= loads ? 1 : 0;
      with_twice_the_loads += best.second >= 2 * loads ? 1 : 0;
    }
  EXPECT_EQ(cases, 276);
  EXPECT_EQ(fewer, 216);
  EXPECT_EQ(without_more_loads, 120);
  EXPECT_EQ(with_twice_the_loads, 35);
}

}  // namespace
}  // namespace spsolve
