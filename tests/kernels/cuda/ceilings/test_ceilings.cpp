// SPDX-License-Identifier: Apache-2.0
// These tests compile the kernels that measure devices, without a GPU, and check the sparse GEMM.
#include "kernels/cuda/ceilings/ceilings.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/ceilings/sparse_gemm.hpp"
#include "tests/kernels/cuda/compile_log.hpp"

namespace spsolve::cuda {
namespace {

class CeilingKernels : public ::testing::TestWithParam<int> {};

TEST_P(CeilingKernels, CompileWithoutSpills) {
  const int capability = GetParam();
  const KernelCompiler compiler(capability == 90 ? "sm_90a" : "sm_80", {});
  for (const auto& [name, constants] : ceiling_constants(capability)) {
    const Compiled compiled = compiler.compile_fresh("kernels/cuda/ceilings/ceilings.cuh", constants);
    EXPECT_EQ(testing::most_spilled_bytes(compiled.log), 0) << name << compiled.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CeilingKernels, ::testing::Values(80, 90));

class SparseGemms : public ::testing::TestWithParam<SparseGemm::Format> {};

TEST_P(SparseGemms, CompileWithoutSpills) {
  const Compiled compiled =
      KernelCompiler("sm_90a", {})
          .compile_fresh("kernels/cuda/ceilings/sparse_gemm.cuh", SparseGemm::constants(GetParam()));
  EXPECT_EQ(testing::most_spilled_bytes(compiled.log), 0) << compiled.log;
}

// Shapes: one tile per cluster with fewer stages than the pipeline has, several tiles per block, and a k that
// is no multiple of the pipeline.
TEST_P(SparseGemms, AreExactOnSmallNumbers) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  const DeviceInfo device = device_info(0);
  if (device.compute_capability != 90) GTEST_SKIP() << "wgmma.sp needs compute capability 9.0";
  const KernelCompiler compiler(device.architecture());
  const Stream stream;
  for (const auto& [m, n, k] : {std::array{256, 256, 512}, {512, 768, 1536}, {2048, 8192, 512}}) {
    SparseGemm gemm(GetParam(), m, n, k, compiler, stream);
    gemm.fill(SparseGemm::Data::exact);
    gemm.launch();
    EXPECT_EQ(gemm.wrong_entries(2000), 0) << m << " x " << n << " x " << k;
    gemm.fill(SparseGemm::Data::random);
    EXPECT_GT(gemm.wrong_entries(100), 50) << "the reference does not look at the data";
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SparseGemms,
                         ::testing::Values(SparseGemm::Format::fp16, SparseGemm::Format::e4m3));

}  // namespace
}  // namespace spsolve::cuda
