// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/sliced_operand.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

TEST(Layout, NamesReadBack) {
  for (const Layout layout : {Layout::strided_swap, Layout::morph, Layout::natural_order,
                              Layout::dual_tessellation, Layout::separable})
    EXPECT_EQ(parse_layout(to_string(layout)), layout);
  EXPECT_FALSE(parse_layout("auto"));
}

TEST(Layout, InstructionsPerOutputOfThePapers) {
  // Table 2 of SPIDER takes box2d3r with L = 8 and two output rows, so 7 + 1 kernel rows of 16 columns fill
  // four m16n8k32.
  const Stencil box({1, 7, 7}, std::vector<double>(49, 1.0), {0, 3, 3});
  const Operand swapped = sparse_operand(box, Layout::strided_swap, m16n8k32_fp16, {1, 1000, 1000});
  EXPECT_DOUBLE_EQ(mma_per_output(swapped, m16n8k32_fp16), 4.0 / (16 * 8));
  EXPECT_EQ(swapped.tile, (Index3{1, 2, 8}));
  // Radius 7: L = 16 and fifteen kernel rows of 32 columns.
  const Stencil wide({1, 15, 15}, std::vector<double>(225, 1.0), {0, 7, 7});
  EXPECT_DOUBLE_EQ(
      mma_per_output(sparse_operand(wide, Layout::strided_swap, m16n8k32_fp16, {1, 99, 99}), m16n8k32_fp16),
      15.0 / (16 * 8));
}

/// This checks the rows of docs/papers.md on SPIDER's tables 1 and 2. An instruction of either family takes
/// 16 products per output from the 32 columns of a step. By mma.sp a column of B has 16 outputs, whose inputs
/// are loaded once for all slices; by wgmma.sp it has 64, and every step reads its own 32.
TEST(Layout, KernelsTakeTheMultiplyAddsAndInputsPerPointOfThePapersPage) {
  struct Row {
    std::int64_t radius;
    int by_mma, by_wgmma, inputs_by_mma, inputs_by_wgmma;
  };
  for (const Row& row : {Row{3, 112, 160, 2, 5}, Row{7, 240, 288, 2, 9}}) {
    const std::int64_t n = 2 * row.radius + 1;
    const Stencil box({1, n, n}, std::vector<double>(static_cast<std::size_t>(n * n), 1.0),
                      {0, row.radius, row.radius});
    const SlicedOperand sliced =
        slice_sparse(in_march_axes(box, 2), Layout::strided_swap, Precision::fp16, false);
    const int steps = input_window(box, Precision::fp16)->steps(Precision::fp16);
    EXPECT_EQ(16 * instructions_with_weights(sliced, Precision::fp16), row.by_mma);
    EXPECT_EQ(16 * steps, row.by_wgmma);
    const int registers = b_registers(sliced, Precision::fp16);  // of four words in each column
    EXPECT_EQ(registers * 4 * m16n8k32_fp16.elements_per_word(), 16 * row.inputs_by_mma);
    EXPECT_EQ(32 * steps, 64 * row.inputs_by_wgmma);
  }
}

TEST(Layout, ChoosesTilesThatFitTheGrid) {
  std::mt19937_64 random(31);
  for (int which = 0; which < 40; ++which) {
    const auto zoo = testing::random_zoo_stencil(random);
    Index3 shape{1, 1, 1};
    for (int axis = 0; axis < axis_count; ++axis)
      if (tap_box(zoo.stencil).extent()[axis] > 1 || axis == x_axis) shape[axis] = 5 + which;
    for (const Layout layout : {Layout::strided_swap, Layout::morph}) {
      const Operand operand = sparse_operand(zoo.stencil, layout, m16n8k16_tf32, shape);
      EXPECT_EQ(operand.sparsity, one_of_two);
      EXPECT_LE(operand.tile[y_axis], shape[y_axis]) << zoo.name;
      EXPECT_LE(operand.tile[z_axis], shape[z_axis]) << zoo.name;
    }
  }
}

TEST(Layout, SomeAreNoSingleSparseOperand) {
  const Stencil row({1, 1, 3}, {1.0, 2.0, 3.0}, {0, 0, 1});
  for (const Layout layout : {Layout::natural_order, Layout::dual_tessellation, Layout::separable})
    EXPECT_THROW(sparse_operand(row, layout, m16n8k32_fp16, {1, 1, 99}), std::invalid_argument);
}

}  // namespace
}  // namespace spsolve
