// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the shared memory of a block of mma_sweep.cuh, and the pipeline that fills it with input.

#include "constants.cuh"
#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/cuda/launch/stage_pipeline.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/tensor/mma_arguments.hpp"

namespace spsolve::cuda {

using namespace constants;

constexpr bool wide = sizeof(Stored) == 8;                        // fp64
constexpr bool paired_words = element != Element::tf32 && !wide;  // words of B hold two elements
constexpr int elements_per_word = paired_words ? 2 : 1;
template <bool, class A, class B>
struct Conditional {
  using Type = A;
};
template <class A, class B>
struct Conditional<false, A, B> {
  using Type = B;
};
using Word = Conditional<wide, double, unsigned>::Type;

constexpr int threads = 32 * warps_x * warps_y;
constexpr int blocks = blocks_x * blocks_y;  // per warp; one instruction multiplies a block of tiles
constexpr int tiles_columns = (wide ? 16 : 8) * tile[2], outputs_per_block = wide ? 8 : 16;
constexpr int block_columns = warps_x * blocks_x * tiles_columns, block_rows = warps_y * blocks_y * tile[1];
constexpr int chunk_elements = tile[0] * box_rows * box_pitch;
constexpr int stage_lines = chunks_per_stage * tile[0] * box_rows;
constexpr int stage_elements =
    (chunks_per_stage * chunk_elements * int{sizeof(Stored)} + 127) / 128 * 128 / int{sizeof(Stored)};
/// Is the number of words of n registers of points; fp64 has two tiles.
template <int n>
constexpr int b_words = wide ? 2 * n : n;
constexpr int slots = terms * slices * m_blocks * steps;  // fragments of A
constexpr int slot_parts = wide ? 2 : 1;                  // parts of 16 bytes

/// Holds the shared memory of a block.
struct MmaSharedMemory {
  alignas(128) Stored stage[stages][stage_elements];
  uint4 weights[weights_in_shared ? slots * slot_parts * 32 : 1];
  unsigned metadata[weights_in_shared && sparse ? m_blocks * steps * 32 : 1];
  int offsets[unrolled ? 1 : elements_per_word * registers * 4];
  unsigned long long full[stages];
};
static_assert(sizeof(MmaSharedMemory) == shared_bytes, "the host must ask for this much");

/// Brings stages of input from global to shared memory. Points outside the memory of the input
/// read as zero.
class StageRing {
 public:
  /// `block` is where the block's first tile begins; it has `number` stages in all.
  __device__ StageRing(MmaSharedMemory& shared, const MmaArguments& a, const long long (&block)[3],
                       int number)
      : shared_(shared), a_(a), left_(number), pipeline_(shared.full) {
    for (int axis = 0; axis < 2; ++axis)
      begin_[axis] = static_cast<int>(block[axis] + window[axis] - a.in.begin[axis]);
    begin_[2] = static_cast<int>((block[2] + window[2] - a.lead - a.in.begin[2]) / per_eight);
#if __CUDA_ARCH__ >= 900
    pipeline_.initialise();
    __syncthreads();
#endif
  }

  /// Starts the copies of the next stage, if there is one.
  __device__ void fetch() {
    if (left_-- > 0) fetch_next();
    pipeline_.commit();
  }

  /// Returns the next stage when it has arrived and all threads have left the stage before.
  __device__ const Stored* wait() {
    return shared_.stage[pipeline_.wait([] { __syncthreads(); })];
  }

 private:
  __device__ void fetch_next() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      constexpr int bytes = chunks_per_stage * chunk_elements * sizeof(Stored);
      mbarrier_expect(pipeline_.full(), bytes);
      // One copy brings the whole stage, or one row or a piece of a row.
      constexpr int columns = box_pitch / copies_per_row, lines = row_by_row ? stage_lines : 1;
#pragma unroll 1
      for (int line = 0; line < lines; ++line)
#pragma unroll
        for (int i = 0; i < copies_per_row; ++i)
          tensor_copy(&shared_.stage[pipeline_.stage_to_fill()][line * box_pitch + i * columns], a_.in_map,
                      begin_[2] + i * (columns / per_eight), begin_[1] + line % box_rows,
                      begin_[0] + line / box_rows, pipeline_.full());
    }
#else
    constexpr int elements = 16 / sizeof(Stored), chunks = box_pitch / elements;
    for (int i = threadIdx.x; i < stage_lines * chunks; i += threads) {
      const int line = i / chunks;
      const long long z = begin_[0] + line / box_rows, y = begin_[1] + line % box_rows,
                      x = begin_[2] * static_cast<long long>(per_eight) + i % chunks * elements;
      const bool inside = z >= 0 && z < a_.in.end[0] - a_.in.begin[0] && y >= 0 &&
                          y < a_.in.end[1] - a_.in.begin[1] && x >= 0 && x < a_.in.end[2] - a_.in.begin[2];
      const Stored* from = static_cast<const Stored*>(a_.in.data);
      if (inside) from += z * a_.in.stride[0] + y * a_.in.stride[1] + x;
      copy_16_bytes_or_zero(&shared_.stage[pipeline_.stage_to_fill()][i * elements], from, inside);
    }
#endif
    begin_[0] += chunks_per_stage * tile[0];
    pipeline_.advance();
  }

  MmaSharedMemory& shared_;
  const MmaArguments& a_;
  static constexpr int per_eight = 8 / sizeof(Stored);  // elements; the copy engine counts words of 8 bytes
  // The next stage begins at this point, relative to the memory of the input; columns count words of 8 bytes.
  int begin_[3];
  int left_;  // stages not yet fetched
  StagePipeline<stages> pipeline_;
};

}  // namespace spsolve::cuda
