// SPDX-License-Identifier: Apache-2.0
// These tests compare mma.sp on the device with the emulation: for small integers, whose sums are exact, and
// on Hopper for any numbers, whose sums the emulation truncates as the hardware does.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/nvrtc.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "kernels/sparse/packed_operand.hpp"

namespace spsolve::cuda {
namespace {

constexpr const char* kernel_text = R"(
#include "kernels/cuda/ptx/sparse_mma.cuh"

namespace spsolve::cuda {

struct Arguments {
  const unsigned *a, *b, *metadata;  // [lane][register], [lane][4], [lane]
  float* d;                          // [lane][4]
  int shape, selector;
};

template <Element element, int k, int selector>
__device__ void multiply(const Arguments& arguments) {
  constexpr int registers = operand_registers<element, k>;
  const int lane = threadIdx.x;
  unsigned a[registers], b[registers];
  float d[4];
  for (int i = 0; i < registers; ++i) a[i] = arguments.a[lane * registers + i];
  for (int i = 0; i < registers; ++i) b[i] = arguments.b[lane * 4 + i];
  for (int i = 0; i < 4; ++i) d[i] = arguments.d[lane * 4 + i];
  sparse_mma<element, k, selector>(d, a, b, arguments.metadata[lane]);
  for (int i = 0; i < 4; ++i) arguments.d[lane * 4 + i] = d[i];
}

template <Element element, int k, int... selectors>
__device__ void with_selector(const Arguments& arguments) {
  ((arguments.selector == selectors ? multiply<element, k, selectors>(arguments) : void()), ...);
}

extern "C" __global__ void multiply_any(Arguments arguments) {
  switch (arguments.shape) {
    case 0: return with_selector<Element::fp16, 16, 0, 1, 2, 3>(arguments);
    case 1: return with_selector<Element::fp16, 32, 0, 1>(arguments);
    case 2: return with_selector<Element::bf16, 16, 0, 1, 2, 3>(arguments);
    case 3: return with_selector<Element::bf16, 32, 0, 1>(arguments);
    case 4: return with_selector<Element::tf32, 8, 0, 1, 2, 3>(arguments);
    case 5: return with_selector<Element::tf32, 16, 0, 1>(arguments);
  }
}

}  // namespace spsolve::cuda
)";
constexpr MmaShape shapes[]{m16n8k16_fp16, m16n8k32_fp16, m16n8k16_bf16,
                            m16n8k32_bf16, m16n8k8_tf32,  m16n8k16_tf32};

struct Arguments {
  const void *a, *b, *metadata;
  void* d;
  int shape, selector;
};

Compiled compile(const std::string& architecture) {
  return Nvrtc().compile({"test_sparse_mma.cu", kernel_text}, embedded_sources(), architecture);
}

class SparseMma : public ::testing::TestWithParam<const char*> {};

TEST_P(SparseMma, CompilesEveryShapeAndSelector) { EXPECT_FALSE(compile(GetParam()).cubin.empty()); }

INSTANTIATE_TEST_SUITE_P(Architectures, SparseMma, ::testing::Values("sm_80", "sm_90a"));

/// Returns a small integer, or a number of either sign and of one of several magnitudes.
double any_number(std::mt19937_64& random, bool integer) {
  if (integer) return static_cast<double>(random() % 17) - 8;
  const double magnitude =
      std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), -static_cast<int>(random() % 12));
  return random() % 2 ? magnitude : -magnitude;
}

/// Returns an operand of random numbers at random positions of every group.
Operand random_operand(std::mt19937_64& random, const MmaShape& mma, bool integers) {
  const Sparsity sparsity = mma.sparsity();
  WeightMatrix matrix{std::vector<Index3>(mma_rows), std::vector<Index3>(4 * mma.k),
                      std::vector<double>(mma_rows * 4 * mma.k, 0.0)};
  for (std::size_t m = 0; m < matrix.rows(); ++m)
    for (std::size_t first = 0; first < matrix.columns(); first += sparsity.group)
      for (int n = 0; n < sparsity.kept; ++n)
        matrix.value(m, first + random() % sparsity.group) = any_number(random, integers);
  return compress(matrix, {1, 1, 1}, sparsity);
}

template <class Registers>
DeviceBuffer to_device(const Registers* from, std::size_t bytes) {
  DeviceBuffer buffer(bytes);
  check_cuda(cudaMemcpy(buffer.data(), from, bytes, cudaMemcpyHostToDevice));
  check_cuda(cudaDeviceSynchronize());  // the copy may still be running when the call returns
  return buffer;
}

TEST(SparseMmaOnDevice, GivesTheBitsOfTheEmulation) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  const Kernel kernel(std::async([] { return compile(device_info(0).architecture()).cubin; }),
                      "multiply_any");
  std::mt19937_64 random(41);
  const bool hopper = device_info(0).compute_capability == 90;
  for (int which = 0; which < (hopper ? 120 : 60); ++which) {
    const MmaShape& mma = shapes[which % 6];
    const bool integers = which < 60;
    const PackedOperand packed = pack(random_operand(random, mma, integers), mma);
    for (int step = 0; step < packed.steps; ++step) {
      WarpRegisters<std::uint32_t, 4> b{};
      WarpRegisters<float, 4> expected{}, found{};
      for (int lane = 0; lane < warp_lanes; ++lane) {
        for (int i = 0; i < mma.b_registers(); ++i)
          for (int element = 0; element < mma.elements_per_word(); ++element)
            b[lane][i] |= element_bits(mma.element, any_number(random, integers)) << (16 * element);
        for (float& value : expected[lane]) value = static_cast<float>(8 * any_number(random, integers));
      }
      found = expected;
      const std::uint32_t *a = packed.values_of(0, step, 0), *metadata = packed.metadata_of(0, step, 0);
      const int selector = step % mma.selectors();
      sparse_mma(mma, a, metadata, selector, b, expected);

      const DeviceBuffer device_a = to_device(a, sizeof(*a) * warp_lanes * mma.a_registers());
      const DeviceBuffer device_b = to_device(&b, sizeof(b)), device_d = to_device(&found, sizeof(found));
      const DeviceBuffer device_metadata = to_device(metadata, sizeof(*metadata) * warp_lanes);
      kernel.launch(1, warp_lanes, 0, nullptr,
                    Arguments{device_a.data(), device_b.data(), device_metadata.data(), device_d.data(),
                              which % 6, selector});
      check_cuda(cudaDeviceSynchronize());
      check_cuda(cudaMemcpy(&found, device_d.data(), sizeof(found), cudaMemcpyDeviceToHost));
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (int i = 0; i < 4; ++i)
          ASSERT_EQ(found[lane][i], expected[lane][i])
              << to_string(mma.element) << " k" << mma.k << " selector " << selector << " lane " << lane
              << " register " << i;
    }
  }
}

}  // namespace
}  // namespace spsolve::cuda
