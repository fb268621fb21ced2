// SPDX-License-Identifier: Apache-2.0
// Measures what one kind of instruction, or of memory, delivers if a kernel does nothing else. Each warp runs
// independent chains of accumulators, long enough to hide the latency of any instruction. Every result is
// written to memory, so that the compiler removes nothing.

#include "constants.cuh"  // instruction; for wgmma also wgmma(), sparse, a_in_registers
#include "kernels/cuda/ceilings/ceiling_arguments.hpp"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace spsolve::cuda {

using namespace constants;

/// Returns bits that differ from word to word. As fp16, bf16, tf32 or e4m3 they are finite and below 2.
__device__ inline unsigned random_bits(unsigned place) {
  place = (place ^ place >> 16) * 0x45d9f3bu;
  place = (place ^ place >> 16) * 0x45d9f3bu;
  return (place ^ place >> 16) & 0xbfbfbfbfu;
}

/// Writes the result of a thread to memory.
template <class Value>
__device__ void keep(const CeilingArguments& arguments, Value value) {
  static_cast<Value*>(arguments.out)[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

/// Copies arguments.wraps words of 16 bytes from `in` to `out`.
__device__ inline void copy(const CeilingArguments& arguments) {
  constexpr int words = ceiling_chains / 2;
  const long long first = static_cast<long long>(blockIdx.x) * ceiling_threads * words + threadIdx.x;
  uint4 value[words];
#pragma unroll
  for (int i = 0; i < words; ++i)
    if (first + i * ceiling_threads < arguments.wraps)
      value[i] = static_cast<const uint4*>(arguments.in)[first + i * ceiling_threads];
#pragma unroll
  for (int i = 0; i < words; ++i)
    if (first + i * ceiling_threads < arguments.wraps)
      static_cast<uint4*>(arguments.out)[first + i * ceiling_threads] = value[i];
}

/// Reads 16 bytes of shared memory per thread, arguments.wraps times ceiling_chains times.
__device__ inline void shared_read(const CeilingArguments& arguments) {
  constexpr int words = ceiling_threads * ceiling_chains * 4;
  __shared__ alignas(16) unsigned memory[words];
  for (int i = threadIdx.x; i < words; i += ceiling_threads) memory[i] = random_bits(i);
  __syncthreads();
  const unsigned address = shared_address(memory) + 16 * threadIdx.x;
  unsigned sum = 0;
  for (long long repeat = 0; repeat < arguments.wraps; ++repeat)
#pragma unroll
    for (int i = 0; i < ceiling_chains; ++i) {
      unsigned x, y, z, w;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(address + i * ceiling_threads * 16));
      sum ^= x ^ y ^ z ^ w;
    }
  keep(arguments, sum);
}

/// Applies `operation` to every chain of `registers` accumulators, arguments.wraps times.
template <int registers, class Value, class Operation>
__device__ void repeat_chains(const CeilingArguments& arguments, Value first, Operation&& operation) {
  Value d[ceiling_chains][registers];
#pragma unroll
  for (int i = 0; i < ceiling_chains; ++i)
    for (int j = 0; j < registers; ++j) d[i][j] = first;
  for (long long repeat = 0; repeat < arguments.wraps; ++repeat)
#pragma unroll
    for (int i = 0; i < ceiling_chains; ++i) operation(d[i]);
  Value sum = d[0][0];
#pragma unroll
  for (int i = 0; i < ceiling_chains; ++i)
    for (int j = 0; j < registers; ++j)
      if (i + j) sum += d[i][j];
  keep(arguments, sum);
}

/// Runs chains of multiply-adds on CUDA cores.
template <Instruction which>
__device__ void fma_chains(const CeilingArguments& arguments) {
  const int lane = threadIdx.x % 32;
  if constexpr (which == Instruction::fma_fp16)
    repeat_chains<1>(arguments, random_bits(lane), [](unsigned(&d)[1]) {
      asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(d[0]) : "r"(0x37ff37ffu), "r"(0x3a003a00u));
    });
  else if constexpr (which == Instruction::fma_fp32)
    repeat_chains<1>(arguments, 1.0f + lane, [a = 0.9f + 0.001f * lane, b = 1.0f / (lane + 1)](float(&d)[1]) {
      d[0] = __fmaf_rn(d[0], a, b);
    });
  else
    repeat_chains<1>(arguments, 1.0 + lane, [a = 0.9 + 0.001 * lane, b = 1.0 / (lane + 1)](double(&d)[1]) {
      d[0] = __fma_rn(d[0], a, b);
    });
}

/// Runs chains of dense tensor-core products with operands of 8 to 32 bits.
template <Instruction which>
__device__ void dense_chains(const CeilingArguments& arguments, const unsigned (&a)[4],
                             const unsigned (&b)[4]) {
  const unsigned half_b[2] = {b[0], b[1]};
  if constexpr (which == Instruction::mma_fp16)
    repeat_chains<4>(arguments, 0.0f, [&](float(&d)[4]) { dense_mma<Element::fp16>(d, a, half_b); });
  else if constexpr (which == Instruction::mma_bf16)
    repeat_chains<4>(arguments, 0.0f, [&](float(&d)[4]) { dense_mma<Element::bf16>(d, a, half_b); });
  else if constexpr (which == Instruction::mma_tf32)
    repeat_chains<4>(arguments, 0.0f, [&](float(&d)[4]) { dense_mma<Element::tf32>(d, a, half_b); });
  else if constexpr (which == Instruction::mma_fp16_f16)
    repeat_chains<2>(arguments, 0u, [&](unsigned(&d)[2]) {
      asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
          : "+r"(d[0]), "+r"(d[1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    });
  else
    repeat_chains<4>(arguments, 0, [&](int(&d)[4]) {
      asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    });
}

/// Runs chains of tensor-core products in fp64.
template <Instruction which>
__device__ void fp64_chains(const CeilingArguments& arguments, int lane) {
  double x[8], y[4];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = 1.0 / (1 + lane + i);
#pragma unroll
  for (int i = 0; i < 4; ++i) y[i] = 1.0 - 0.01 * (lane + i);
  if constexpr (which == Instruction::mma_fp64)
    repeat_chains<4>(arguments, 0.0, [&](double(&d)[4]) { dense_mma<4>(d, x, y); });
  else
    repeat_chains<2>(arguments, 0.0, [&](double(&d)[2]) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(d[0]), "+d"(d[1])
          : "d"(x[0]), "d"(y[0]));
    });
}

/// Runs chains of sparse tensor-core products.
template <Instruction which>
__device__ void sparse_chains(const CeilingArguments& arguments, const unsigned (&a)[4],
                              const unsigned (&b)[4]) {
  constexpr unsigned metadata = 0x44444444;  // keeps the first two of every four
  const unsigned half_a[2] = {a[0], a[1]}, half_b[2] = {b[0], b[1]};
  if constexpr (which == Instruction::mma_sp_fp16_k16)
    repeat_chains<4>(arguments, 0.0f,
                     [&](float(&d)[4]) { sparse_mma<Element::fp16, 16, 0>(d, half_a, half_b, metadata); });
  else if constexpr (which == Instruction::mma_sp_fp16)
    repeat_chains<4>(arguments, 0.0f,
                     [&](float(&d)[4]) { sparse_mma<Element::fp16, 32, 0>(d, a, b, metadata); });
  else if constexpr (which == Instruction::mma_sp_bf16)
    repeat_chains<4>(arguments, 0.0f,
                     [&](float(&d)[4]) { sparse_mma<Element::bf16, 32, 0>(d, a, b, metadata); });
  else if constexpr (which == Instruction::mma_sp_tf32)
    repeat_chains<4>(arguments, 0.0f,
                     [&](float(&d)[4]) { sparse_mma<Element::tf32, 16, 0>(d, a, b, metadata); });
  else if constexpr (which == Instruction::mma_sp_fp16_f16)
    repeat_chains<2>(arguments, 0u, [&](unsigned(&d)[2]) {
      asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, "
          "%5}, "
          "{%6, %7, %8, %9}, {%0, %1}, %10, 0;"
          : "+r"(d[0]), "+r"(d[1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
            "r"(metadata));
    });
  else
    repeat_chains<4>(arguments, 0, [&](int(&d)[4]) {
      asm("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, "
          "%6, "
          "%7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0;"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
            "r"(metadata));
    });
}

/// Runs chains of products of one warp, on random operands.
template <Instruction which>
__device__ void mma_chains(const CeilingArguments& arguments) {
  const int lane = threadIdx.x % 32;
  unsigned a[4], b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = random_bits(8 * lane + i), b[i] = random_bits(8 * lane + 4 + i);
  if constexpr (which == Instruction::mma_fp64 || which == Instruction::mma_fp64_m8n8k4)
    fp64_chains<which>(arguments, lane);
  else if constexpr (which < Instruction::mma_sp_fp16_k16)
    dense_chains<which>(arguments, a, b);
  else
    sparse_chains<which>(arguments, a, b);
}

/// Multiplies a tile of 64 rows by a tile of 256 rows, of 128 bytes each. All instructions of a warpgroup add
/// to the same registers, which the hardware keeps in order without waiting.
template <Instruction which>
__device__ void wgmma_chains(const CeilingArguments& arguments) {
  constexpr int row_bytes = 128, a_rows = 64, words = (a_rows + 256) * row_bytes / 4;
  __shared__ alignas(1024) unsigned memory[words];
  for (int i = threadIdx.x; i < words; i += ceiling_threads) memory[i] = random_bits(i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long a = wgmma_descriptor(memory, row_bytes);
  const unsigned long long b = wgmma_descriptor(memory + a_rows * row_bytes / 4, row_bytes);
  const unsigned lane = threadIdx.x;
  const unsigned registers[4] = {random_bits(4 * lane), random_bits(4 * lane + 1), random_bits(4 * lane + 2),
                                 random_bits(4 * lane + 3)};
  constexpr unsigned metadata = 0x44444444;
  float d[128] = {};
  for (long long repeat = 0; repeat < arguments.wraps; ++repeat) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < ceiling_chains; ++i) {
      const unsigned long long a_step = a + i * 32 % row_bytes / 16;
      const unsigned long long b_step = b + i * (sparse ? 64 : 32) % row_bytes / 16;
      if constexpr (a_in_registers)
        wgmma<0>(d, registers, b_step, metadata, true);
      else
        wgmma<0>(d, a_step, b_step, metadata, true);
    }
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  keep(arguments, sum);
}

/// Runs the instruction that constants.cuh names.
template <Instruction which>
__device__ void measure(const CeilingArguments& arguments) {
  if constexpr (which == Instruction::copy)
    copy(arguments);
  else if constexpr (which == Instruction::shared_read)
    shared_read(arguments);
  else if constexpr (which <= Instruction::fma_fp64)
    fma_chains<which>(arguments);
  else if constexpr (which <= Instruction::mma_sp_int8)
    mma_chains<which>(arguments);
  else
    wgmma_chains<which>(arguments);
}

extern "C" __global__ __launch_bounds__(ceiling_threads) void ceiling(CeilingArguments arguments) {
  measure<instruction>(arguments);
}

}  // namespace spsolve::cuda
