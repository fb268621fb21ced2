// SPDX-License-Identifier: Apache-2.0
// These tests compile the kernels that measure devices, without a GPU, and check the sparse GEMM.
#include "kernels/cuda/ceilings/ceilings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "kernels/cuda/ceilings/layout_sweeps.hpp"
#include "kernels/cuda/ceilings/sparse_gemm.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "tests/kernels/cuda/compile_log.hpp"

namespace spsolve::cuda {
namespace {

class CeilingKernels : public ::testing::TestWithParam<int> {};

TEST_P(CeilingKernels, CompileWithoutSpills) {
  const int capability = GetParam();
  const KernelCompiler compiler(capability == 90 ? "sm_90a" : "sm_80", {});
  for (const auto& [name, constants] : ceiling_constants(capability)) {
    const Compiled compiled = compiler.compile_fresh("kernels/cuda/ceilings/ceilings.cuh", constants);
    EXPECT_EQ(testing::max_spilled_bytes(compiled.log), 0) << name << compiled.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CeilingKernels, ::testing::Values(80, 90));

class LayoutKernels : public ::testing::TestWithParam<int> {};

TEST_P(LayoutKernels, CompileWithoutSpills) {
  const KernelCompiler compiler(GetParam() == 90 ? "sm_90a" : "sm_80", {});
  for (const int kernel_rows : {1, 7})
    for (int step = 0; step <= static_cast<int>(RowStep::natural); ++step) {
      const Compiled compiled = compiler.compile_fresh(
          "kernels/cuda/ceilings/row_layouts.cuh", row_constants(kernel_rows, static_cast<RowStep>(step)));
      // With windows in memory the addresses of 7 rows take a few registers too many.
      const bool many_addresses =
          kernel_rows == 7 && static_cast<RowStep>(step) == RowStep::natural_from_memory;
      EXPECT_TRUE(many_addresses || testing::max_spilled_bytes(compiled.log) == 0) << step << compiled.log;
    }
  for (const int kernel_rows : {5, 7})
    for (const BandForm form : {BandForm::dense, BandForm::swapped, BandForm::sparse})
      for (const bool staged : {false, true}) {
        const Compiled compiled = compiler.compile_fresh("kernels/cuda/ceilings/band_staging.cuh",
                                                         band_constants(kernel_rows, form, staged));
        EXPECT_EQ(testing::max_spilled_bytes(compiled.log), 0) << compiled.log;
      }
}

INSTANTIATE_TEST_SUITE_P(Architectures, LayoutKernels, ::testing::Values(80, 90));

/// Returns a box of random weights.
Stencil random_box(std::int64_t rows, std::int64_t points) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> weight(-1, 1);
  std::vector<double> weights(static_cast<std::size_t>(rows * points));
  for (double& value : weights) value = weight(random);
  return {{1, rows, points}, weights, {0, 0, 0}};
}

TEST(LayoutSweeps, MatchSumsOnTheHost) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  const KernelCompiler compiler(current_device().architecture());
  const Stream stream;
  for (const int kernel_rows : {1, 7})
    for (int step = 0; step <= static_cast<int>(RowStep::natural); ++step) {
      RowSweep sweep(random_box(kernel_rows, 7), static_cast<RowStep>(step), 48, 384, compiler, stream);
      EXPECT_GT(sweep.wrong_outputs(200), 150) << "nothing was launched yet";
      sweep.launch();
      EXPECT_EQ(sweep.wrong_outputs(2000), 0) << kernel_rows << " rows, step " << step;
    }
  for (const BandForm form : {BandForm::dense, BandForm::swapped, BandForm::sparse})
    for (const bool staged : {false, true}) {
      BandSweep sweep(random_box(7, 15), form, staged, 96, 384, compiler, stream);
      EXPECT_GT(sweep.wrong_outputs(200), 150) << "nothing was launched yet";
      sweep.launch();
      EXPECT_EQ(sweep.wrong_outputs(2000), 0) << static_cast<int>(form) << staged;
    }
}

class SparseGemms : public ::testing::TestWithParam<GemmFormat> {};

// ptxas says C75xx when it waits after each wgmma.
TEST_P(SparseGemms, CompileWithoutSpillsAndWaits) {
  const KernelCompiler compiler("sm_90a", {});
  for (const GemmStep& step : gemm_ladder(GetParam())) {
    const Compiled compiled = compiler.compile_fresh("kernels/cuda/ceilings/sparse_gemm.cuh",
                                                     SparseGemm::constants(GetParam(), step.design));
    EXPECT_EQ(testing::max_spilled_bytes(compiled.log), 0) << step.name << compiled.log;
    EXPECT_EQ(compiled.log.find("C75"), std::string::npos) << step.name << compiled.log;
  }
  compiler.compile_fresh("kernels/cuda/ceilings/gemm_operands.cuh",
                         SparseGemm::operand_constants(GetParam()));
}

TEST_P(SparseGemms, TakeOneOptimisationAfterAnother) {
  const std::vector<GemmStep> steps = gemm_ladder(GetParam());
  for (std::size_t i = 1; i < steps.size(); ++i)
    EXPECT_NE(SparseGemm::constants(GetParam(), steps[i - 1].design),
              SparseGemm::constants(GetParam(), steps[i].design))
        << steps[i].name;
  EXPECT_EQ(SparseGemm::constants(GetParam(), steps.back().design),
            SparseGemm::constants(GetParam(), GemmDesign{}));
}

/// Skips the test on devices without wgmma.sp, else selects one.
#define SELECT_DEVICE_WITH_WGMMA()                           \
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device"; \
  select_device(0);                                          \
  if (current_device().compute_capability != 90) GTEST_SKIP() << "wgmma.sp needs compute capability 9.0"

// The shapes are one entry; odd extents beyond tiles, with fewer stages than the pipeline has; several tiles
// per block; and a k that is no multiple of the pipeline.
TEST_P(SparseGemms, AreExactOnSmallNumbers) {
  SELECT_DEVICE_WITH_WGMMA();
  const KernelCompiler compiler(current_device().architecture());
  const Stream stream;
  for (const GemmStep& step : gemm_ladder(GetParam()))
    for (const auto& [m, n, k] :
         {std::array{1, 1, 1}, {257, 771, 333}, {512, 768, 1536}, {2047, 8191, 517}}) {
      SparseGemm gemm(GetParam(), m, n, k, step.design, compiler, stream);
      gemm.fill(SparseGemm::Data::exact);
      gemm.launch();
      EXPECT_EQ(gemm.wrong_entries(1500), 0) << step.name << ": " << m << " x " << n << " x " << k;
      if (m == 1) continue;
      gemm.fill(SparseGemm::Data::random);
      EXPECT_GT(gemm.wrong_entries(100), 50) << "the reference does not look at the data";
    }
}

TEST_P(SparseGemms, RefuseDenseOperands) {
  SELECT_DEVICE_WITH_WGMMA();
  const KernelCompiler compiler(current_device().architecture());
  const Stream stream;
  SparseGemm gemm(GetParam(), 64, 64, 64, {}, compiler, stream);
  gemm.fill(SparseGemm::Data::exact);
  const std::size_t three = GetParam() == GemmFormat::e4m3 ? 3 : 6;  // bytes of three elements
  check_cuda(cudaMemset(gemm.a(), 0x38, three));
  EXPECT_THROW(gemm.compress(), Error);
}

INSTANTIATE_TEST_SUITE_P(Formats, SparseGemms, ::testing::Values(GemmFormat::fp16, GemmFormat::e4m3));

// The elements that are kept of four hold all that are not zero, in ascending order, for every pattern of
// zeros.
TEST(KeptPairs, HoldAllThatIsNotZero) {
  for (unsigned pattern = 0; pattern < 16; ++pattern) {
    const unsigned elements[4] = {pattern & 1, pattern >> 1 & 1, pattern >> 2 & 1, pattern >> 3 & 1};
    const KeptPair kept = kept_pair(elements);
    EXPECT_LT(kept.first, kept.second);
    EXPECT_LT(kept.second, 4);
    const unsigned both = 1u << kept.first | 1u << kept.second;
    EXPECT_EQ(kept.is_whole, (pattern & ~both) == 0) << pattern;
    EXPECT_EQ(kept.is_whole, std::popcount(pattern) <= 2) << pattern;
    EXPECT_EQ(kept.metadata(), static_cast<unsigned>(kept.first + 4 * kept.second));
  }
}

}  // namespace
}  // namespace spsolve::cuda
