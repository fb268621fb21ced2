// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "async_copy.cuh"
#include "constants.cuh"
#include "precision.cuh"
#include "walls.cuh"

namespace spsolve::cuda {

using constants::Compute;
using constants::In;
using constants::Out;
using constants::Stored;

/// Columns and rows that a block holds, halo included.
constexpr int tile_columns = 32 * constants::points_per_lane;
constexpr int tile_rows = constants::warps * constants::rows_per_warp;

/// The next planes of the input tile on their way to shared memory. Rows are copied by the bulk copy engine
/// (sm_90; one lane per row) or by cp.async (sm_80); rows beyond a neumann face are copied from their images.
class PlaneRing {
 public:
  static constexpr int stages = constants::stages;
  struct Storage {
    alignas(128) In plane[stages][tile_rows][tile_columns];
    unsigned long long full[stages];
  };

  __device__ PlaneRing(Storage& storage, const Arguments& a, long long first_plane, long long first_row,
                       long long first_column)
      : storage_(storage), a_(a), first_plane_(first_plane), first_row_(first_row) {
    begin_ = first_column > a.in.begin[2] ? first_column : a.in.begin[2];
    const long long end =
        first_column + tile_columns < a.in.end[2] ? first_column + tile_columns : a.in.end[2];
    bytes_ = end > begin_ ? static_cast<unsigned>((end - begin_) * sizeof(In)) : 0;
    skip_ = static_cast<int>(begin_ - first_column);
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) mbarrier_init(&storage_.full[stage], 1);
      fence_mbarrier_init();
    }
#endif
    __syncthreads();
  }

  /// Starts the copy of the plane `index` planes after the first. Its stage must no longer be read by any
  /// thread.
  __device__ void fetch(int index) {
    const int stage = index % stages;
    const long long plane = clamp(first_plane_ + index, a_.in.begin[0], a_.in.end[0]);
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x < 32) {
      if (threadIdx.x == 0) mbarrier_expect(&storage_.full[stage], bytes_ * tile_rows);
      if (bytes_)
        for (int row = threadIdx.x; row < tile_rows; row += 32)
          bulk_copy(&storage_.plane[stage][row][skip_], row_address(plane, row), bytes_,
                    &storage_.full[stage]);
    }
#else
    const int chunks = static_cast<int>(bytes_ / 16);
    for (int i = threadIdx.x; i < tile_rows * chunks; i += blockDim.x) {
      const int row = i / chunks, chunk = i % chunks;
      copy_16_bytes(reinterpret_cast<char*>(&storage_.plane[stage][row][skip_]) + 16 * chunk,
                    reinterpret_cast<const char*>(row_address(plane, row)) + 16 * chunk);
    }
    commit_copies();
#endif
  }

  /// The plane once it has arrived. Called by all threads of the block, in order of index.
  __device__ const In (*wait(int index))[tile_columns] {
    const int stage = index % stages;
#if __CUDA_ARCH__ >= 900
    while (!mbarrier_try_wait(&storage_.full[stage], (index / stages) & 1)) {
    }
#else
    wait_for_copies<stages - 2>();
    __syncthreads();
#endif
    return storage_.plane[stage];
  }

 private:
  __device__ const In* row_address(long long plane, int row) const {
    long long p = first_row_ + row;
    if constexpr (constants::walls[row_axis][0] != Wall::none)
      p = place_of<row_axis>(p, a_.shape[row_axis]).index;
    p = clamp(p, a_.in.begin[1], a_.in.end[1]);
    return static_cast<const In*>(a_.in.data) + (plane - a_.in.begin[0]) * a_.in.stride[0] +
           (p - a_.in.begin[1]) * a_.in.stride[1] + (begin_ - a_.in.begin[2]);
  }

  Storage& storage_;
  const Arguments& a_;
  long long first_plane_, first_row_, begin_;
  unsigned bytes_;  // of a row that lie in memory
  int skip_;        // columns of the tile before them
};

}  // namespace spsolve::cuda
