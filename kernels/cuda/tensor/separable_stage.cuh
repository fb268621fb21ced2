// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the shared memory of a block of separable.cuh or separable_planes.cuh, and the pipeline
// that fills it with input.

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/ptx/sparse_mma.cuh"
#include "kernels/cuda/ptx/tensor_store.cuh"
#include "kernels/cuda/tensor/separable_arguments.hpp"

namespace spsolve::cuda {

using namespace constants;

constexpr bool tf32 = element == Element::tf32;
constexpr int words = tf32 ? 8 : 4;         // registers per fragment of one window
constexpr int instructions = tf32 ? 2 : 1;  // instructions per window
constexpr int slab = 16;                    // outputs of one instruction along an axis
// A stage is a plane in separable_planes.cuh, and rows of a plane in separable.cuh.
constexpr bool in_planes = z_taps > 1;
constexpr int block_rows = in_planes ? slab * (warps_y + 1) : 2 * slab * y_windows;  // rows of a stage
// A box of input has the rows of first slabs, or those of second slabs, which begin row_shift columns
// earlier.
constexpr int input_rows = in_planes ? block_rows : block_rows / 2;
constexpr int warp_columns = slab * groups;
constexpr int block_columns = warp_columns * warps_x, warps = warps_x * warps_y;
// Bulk stores write boxes whose rows have 32, 64 or 128 bytes. A box belongs to one warp, or (in planes) to
// neighbouring warps along x with two buffers.
constexpr int stored_columns = in_planes ? block_columns : warp_columns;
constexpr int stored_bytes = stored_columns * sizeof(Stored),
              box_bytes = stored_bytes < 128 ? stored_bytes : 128;
constexpr int box_columns = box_bytes / sizeof(Stored);
// This is true if boxes that are written only in part go through shared memory too. A source must then be
// readable for them as well.
constexpr bool staged_parts = bulk_stores && (!with_source || staged_source || in_planes);
constexpr int boxes = bulk_stores ? stored_columns / box_columns : 1;
constexpr int box_groups = in_planes ? 2 * warps_y : warps;
constexpr int box_rows = in_planes ? slab : block_rows;
constexpr int x_instructions = x_windows * instructions, y_instructions = y_windows * instructions;
constexpr int x_words = (x_instructions + 1) / 2, y_words = (y_instructions + 1) / 2;
constexpr int x_value_count = x_rank * terms * x_instructions;  // fragments of A along x
constexpr int value_count = x_value_count + rank * terms * y_instructions;

/// Returns where a lane's slab begins in a window along x; odd lanes have the second slab.
__device__ inline int slab_of_lane(int q) { return q % 2 * (slab * x_windows); }

/// Returns where in a stage the lane's part of the first window lies: a chunk of a slab along x, in a row of
/// one of the two slabs along y (see separable.cuh).
__device__ inline int input_of_lane(int g, int q) {
  const int second_slab = g / 2 % 2, row = g / 4 * 8 + second_slab * (slab * y_windows) + g % 2;
  return row * row_elements + second_slab * row_shift + q / 2 * 8 + slab_of_lane(q);
}

/// Returns which of eight rows holds row g of A. With this order, stores of neighbouring lanes lie in
/// different banks for every width and swizzling of boxes (spread_rows of kernels/sparse/operand.hpp).
__device__ inline int row_of_result(int g) { return g % 2 * 4 + g / 2 % 2 * 2 + (g ^ g / 2 ^ g / 4) % 2; }

/// Holds the shared memory of a block.
struct SeparableSharedMemory {
  alignas(1024) Stored
      out[bulk_stores ? box_groups : 1][boxes][bulk_stores ? box_rows : 1][bulk_stores ? box_columns : 8];
  alignas(128) Stored stage[stages][block_rows][row_elements];
  // This is the source of the points that a step completes.
  alignas(128) float source[staged_source ? warps : 1][staged_source ? block_rows : 1][warp_columns];
  uint4 values[weights_in_shared ? value_count : 1][32];
  unsigned long long full[stages], read[stages], source_full[staged_source ? warps : 1];
};

static_assert(sizeof(SeparableSharedMemory) <= shared_bytes);

/// Holds the position at which the outputs of a warp begin, relative to the region that is written.
struct WarpOutput {
  const SeparableArguments& a;
  int plane, row, column;

  /// Return the ends of the part of the region that is written, relative to this position.
  __device__ int begin_row() const { return -row; }
  __device__ int end_row() const { return in_region(a.region.end[1], 1) - row; }
  __device__ int begin_column() const { return -column; }
  __device__ int end_column() const { return in_region(a.region.end[2], 2) - column; }

  /// Return the coordinates of this position in the memory of a view.
  __device__ int plane_in(const View& view) const { return plane - in_region(view.begin[0], 0); }
  __device__ int row_in(const View& view) const { return row - in_region(view.begin[1], 1); }
  __device__ int column_in(const View& view) const { return column - in_region(view.begin[2], 2); }
  /// Returns the address of a point relative to this position.
  template <class T>
  __device__ T* at(const View& view, int planes, int rows, int columns) const {
    return static_cast<T*>(view.data) + (plane_in(view) + planes) * view.stride[0] +
           (row_in(view) + rows) * view.stride[1] + (column_in(view) + columns);
  }

  __device__ int in_region(long long point, int axis) const {
    return static_cast<int>(point - a.region.begin[axis]);
  }
};

/// Brings input from global to shared memory. A stage holds the next rows of the block's columns, or the next
/// plane. sm_90 uses the tensor copy engine, sm_80 cp.async. Points outside the memory of the input read as
/// zero.
///
/// On sm_90 a stage has two mbarriers: `full` completes when its copy has arrived, `read` when all warps have
/// released it. On sm_80 block barriers take their place.
class BlockRing {
 public:
  __device__ BlockRing(SeparableSharedMemory& shared, const SeparableArguments& a, int row, int column,
                       int plane)
      : shared_(shared), a_(a), row_(row), column_(column), plane_(plane) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        mbarrier_init(&shared_.full[stage], 1);
        mbarrier_init(&shared_.read[stage], warps);
      }
      for (unsigned long long& barrier : shared_.source_full) mbarrier_init(&barrier, 1);
      fence_mbarrier_init();
    }
    __syncthreads();
#endif
  }

  /// Calls take(n) for the blocks of input 0 to count - 1 as they arrive, with `ahead` blocks in flight. All
  /// threads call it.
  template <class Take>
  __device__ void for_each(int count, Take&& take) {
    for (int n = 0; n < ahead; ++n) {
      if (n < count) fetch(n);
      commit();
    }
#pragma unroll 1
    for (int n = 0; n < count; ++n) {
      if (n + ahead < count) {
#if __CUDA_ARCH__ < 900
        if (ahead == stages - 1) __syncthreads();
#endif
        fetch(n + ahead);
      }
      commit();
      wait_for(n);
      take(n);
    }
  }

  /// Declares that this warp has read block `n`.
  __device__ void release(int n) {
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared_.read[n % stages]);
#endif
  }

 private:
  /// Starts the copy of block `n`. On sm_90 thread 0 first waits until all warps have read the stage.
  __device__ void fetch(int n) {
    const int stage = n % stages;
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      if (n >= stages) mbarrier_wait(&shared_.read[stage], (n / stages - 1) & 1);
      mbarrier_expect(&shared_.full[stage], sizeof(shared_.stage[0]));
      constexpr int per_unit = 8 / sizeof(Stored);
      for (int row = 0; row < block_rows; row += input_rows)
        tensor_copy(shared_.stage[stage][row], a_.in_map, (column_ - shift_of(row)) / per_unit,
                    first_row(n) + row, plane(n), &shared_.full[stage]);
    }
#else
    constexpr int chunk = 16 / sizeof(Stored), chunks = row_elements / chunk;
    const int z = plane(n);
    const bool plane_inside = z >= 0 && z < a_.in.end[0] - a_.in.begin[0];
    const auto* in = static_cast<const Stored*>(a_.in.data) + (plane_inside ? z * a_.in.stride[0] : 0);
    for (int i = threadIdx.x; i < block_rows * chunks; i += 32 * warps) {
      const int row = first_row(n) + i / chunks, column = column_ + i % chunks * chunk - shift_of(i / chunks);
      const bool inside = plane_inside && row >= 0 && row < a_.in.end[1] - a_.in.begin[1] && column >= 0 &&
                          column < a_.in.end[2] - a_.in.begin[2];
      copy_16_bytes_or_zero(&shared_.stage[stage][i / chunks][i % chunks * chunk],
                            inside ? in + row * a_.in.stride[1] + column : in, inside);
    }
#endif
  }

  /// Closes the cp.async group of a fetch, which may be empty.
  __device__ void commit() {
#if __CUDA_ARCH__ < 900
    commit_copies();
#endif
  }

  /// Waits until block `n` has arrived.
  __device__ void wait_for(int n) {
#if __CUDA_ARCH__ >= 900
    mbarrier_wait(&shared_.full[n % stages], n / stages & 1);
#else
    wait_for_copies<ahead>();
    __syncthreads();
#endif
  }

  /// Returns by how many columns a row of a stage begins earlier than the first rows.
  static __device__ int shift_of(int row) { return row < input_rows ? 0 : row_shift; }
  __device__ int first_row(int n) const { return in_planes ? row_ : row_ + n * block_rows; }
  __device__ int plane(int n) const { return in_planes ? plane_ + n : plane_; }

  SeparableSharedMemory& shared_;
  const SeparableArguments& a_;
  int row_, column_, plane_;  // first point of the block, relative to the memory of the input
};

}  // namespace spsolve::cuda
