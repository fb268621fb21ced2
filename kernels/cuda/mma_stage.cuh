// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a block of mma_sweep.cuh holds in shared memory, and how its input gets there.

#include "arguments.hpp"
#include "async_copy.cuh"
#include "constants.cuh"
#include "mma_arguments.hpp"
#include "precision.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr bool wide = sizeof(Stored) == 8;                        // fp64
constexpr bool paired_words = element != Element::tf32 && !wide;  // words of B are two elements
constexpr int elements_per_word = paired_words ? 2 : 1;
using Sum = Compute;
template <bool, class A, class B>
struct Choose {
  using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using Type = B;
};
using Word = Choose<wide, double, unsigned>::Type;

constexpr int threads = 32 * warps_x * warps_y;
constexpr int blocks = blocks_x * blocks_y;  // of a warp, each of the tiles of an instruction
constexpr int tiles_columns = (wide ? 16 : 8) * tile[2], outputs_per_block = wide ? 8 : 16;
constexpr int block_columns = warps_x * blocks_x * tiles_columns, block_rows = warps_y * blocks_y * tile[1];
constexpr int chunk_elements = tile[0] * box_rows * box_pitch;
constexpr int stage_lines = chunks_per_stage * tile[0] * box_rows;
constexpr int to_128_bytes(int elements) {
  constexpr int granule = 128 / sizeof(Stored);
  return (elements + granule - 1) / granule * granule;
}
constexpr int stage_elements = to_128_bytes(chunks_per_stage * chunk_elements),
              end_elements = to_128_bytes(stage_lines * end_columns);  // of the other end of rows
/// Factors of points: terms, or tf32 of either point of a pair, bf16 of the pair, and of what tf32 leaves
/// over.
constexpr int factors = mixed ? 4 : terms;
/// Words of n registers of points: in fp64 of two tiles.
template <int n>
constexpr int b_words = wide ? 2 * n : n;
constexpr int slots = terms * slices * m_blocks * steps;  // of A
constexpr int slot_parts = wide ? 2 : 1;                  // 16 bytes each

struct SharedMemory {
  alignas(128) Stored stage[stages][stage_elements + end_elements];
  uint4 weights[weights_in_shared ? slots * slot_parts * 32 : 1];
  unsigned metadata[weights_in_shared && sparse ? m_blocks * steps * 32 : 1];
  int offsets[unrolled ? 1 : elements_per_word * registers * 4];
  unsigned long long full[stages];
};
static_assert(sizeof(SharedMemory) == shared_bytes, "the host must ask for this much");

/// Stages of input on their way to shared memory; what lies outside the memory of the input is zero. In grids
/// whose rows wrap, what a block reads beyond their end comes from the other end.
class StageRing {
 public:
  /// `block`: where its first tile begins.
  __device__ StageRing(SharedMemory& shared, const MmaArguments& a, const long long (&block)[3])
      : shared_(shared), a_(a) {
    for (int axis = 0; axis < 2; ++axis)
      begin_[axis] = static_cast<int>(block[axis] + window[axis] - a.in.begin[axis]);
    const long long column = block[2] + window[2] - a.lead;
    begin_[2] = static_cast<int>((column - a.in.begin[2]) / per_eight);
    if constexpr (end_columns > 0) {
      const bool at_begin = column < 0;
      if (a.wrapped_columns > 0 && (at_begin || column + box_pitch > a.wrapped_columns))
        end_ = static_cast<int>((at_begin ? -end_columns : a.wrapped_columns) - column);
    }
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) mbarrier_init(&shared_.full[stage], 1);
      fence_mbarrier_init();
    }
    __syncthreads();
#endif
  }

  __device__ void fetch() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      constexpr int bytes = chunks_per_stage * chunk_elements * sizeof(Stored),
                    bytes_of_end = stage_lines * end_columns * sizeof(Stored);
      mbarrier_expect(&shared_.full[fetch_], bytes + (has_end() ? bytes_of_end : 0));
      if (has_end()) {
        fence_for_copy_engine();  // what join_end() wrote
        tensor_copy(&shared_.stage[fetch_][stage_elements], a_.ends_map, other_end(), begin_[1], begin_[0],
                    &shared_.full[fetch_]);
      }
      // A whole stage at once, or rows in pieces.
      constexpr int columns = box_pitch / copies_per_row, lines = copies_per_row > 1 ? stage_lines : 1;
#pragma unroll 1
      for (int line = 0; line < lines; ++line)
#pragma unroll
        for (int i = 0; i < copies_per_row; ++i)
          tensor_copy(&shared_.stage[fetch_][line * box_pitch + i * columns], a_.in_map,
                      begin_[2] + i * (columns / per_eight), begin_[1] + line % box_rows,
                      begin_[0] + line / box_rows, &shared_.full[fetch_]);
    }
#else
    constexpr int elements = 16 / sizeof(Stored), chunks = box_pitch / elements;
    for (int i = threadIdx.x; i < stage_lines * chunks; i += threads) {
      const int line = i / chunks;
      const long long z = begin_[0] + line / box_rows, y = begin_[1] + line % box_rows;
      long long x = begin_[2] * static_cast<long long>(per_eight) + i % chunks * elements;
      if (a_.wrapped_columns > 0) {
        const long long column = x + a_.in.begin[2];
        if (column < 0) x += a_.wrapped_columns;
        if (column >= a_.wrapped_columns) x -= a_.wrapped_columns;
      }
      const bool inside = z >= 0 && z < a_.in.end[0] - a_.in.begin[0] && y >= 0 &&
                          y < a_.in.end[1] - a_.in.begin[1] && x >= 0 && x < a_.in.end[2] - a_.in.begin[2];
      const Stored* from = static_cast<const Stored*>(a_.in.data);
      if (inside) from += z * a_.in.stride[0] + y * a_.in.stride[1] + x;
      copy_16_bytes_or_zero(&shared_.stage[fetch_][i * elements], from, inside);
    }
#endif
    begin_[0] += chunks_per_stage * tile[0];
    fetch_ = fetch_ + 1 == stages ? 0 : fetch_ + 1;
  }

  /// The next stage once it has arrived, after all threads have left the one before.
  __device__ const Stored* wait() {
    const int stage = wait_;
#if __CUDA_ARCH__ >= 900
    mbarrier_wait(&shared_.full[stage], parity_);
    if (stage + 1 == stages) parity_ ^= 1;
    if (has_end()) join_end(shared_.stage[stage]);
#else
    commit_copies();
    wait_for_copies<stages - 1>();
#endif
    __syncthreads();
    wait_ = stage + 1 == stages ? 0 : stage + 1;
    return shared_.stage[stage];
  }

  /// Ends the group of copies of a prologue's stage (sm_80).
  __device__ void commit() {
#if __CUDA_ARCH__ < 900
    commit_copies();
#endif
  }

 private:
  static constexpr int per_eight = 8 / sizeof(Stored);  // elements; the copy engine counts 8 bytes

  __device__ bool has_end() const { return end_columns > 0 && end_ < box_pitch; }

#if __CUDA_ARCH__ >= 900
  /// Where the copy of the other end begins: `end_` columns beyond the stage's first, and a row further.
  __device__ int other_end() const {
    const int n = static_cast<int>(a_.wrapped_columns / per_eight);
    return begin_[2] + end_ / per_eight + (end_ <= 0 ? n : -n);
  }

  /// Puts the columns of the other end where the stage has what the copy engine read of the halo.
  __device__ void join_end(Stored* stage) const {
    constexpr int granule = 16 / sizeof(Stored), per_line = end_columns > 0 ? end_columns / granule : 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < stage_lines * per_line; i += threads) {
      const int column = end_ + i % per_line * granule;
      if (column >= 0 && column < box_pitch)
        *reinterpret_cast<uint4*>(&stage[i / per_line * box_pitch + column]) =
            *reinterpret_cast<const uint4*>(&stage[stage_elements + i * granule]);
    }
  }
#endif

  SharedMemory& shared_;
  const MmaArguments& a_;
  int begin_[3];         // of the next stage, relative to the memory of the input; columns in 8 bytes
  int end_ = box_pitch;  // in a row of a stage, where the columns of the other end belong
  int fetch_ = 0, wait_ = 0;
  unsigned parity_ = 0;
};

}  // namespace spsolve::cuda
