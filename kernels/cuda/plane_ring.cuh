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

/// Whether a tile lies across the ends of rows that repeat: it begins as many columns before the grid as it
/// goes on after. Its halves are held the other way round, the beginning of the rows first, since the copy
/// engine goes through memory upwards only.
__device__ inline bool is_across(long long first_column) {
  return constants::rows_repeat && first_column < 0;
}
/// Where column c of the tile is held.
__device__ inline int held_column(long long first_column, int c) {
  return is_across(first_column) ? c ^ tile_columns / 2 : c;
}

__device__ inline void block_barrier() {
  if constexpr (constants::warps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// The next planes of the input tile on their way to shared memory: by the tensor copy engine on sm_90 (one
/// instruction per plane, or per row and 256 columns), by cp.async on sm_80. Points outside the memory of the
/// input are any value.
class PlaneRing {
 public:
  static constexpr int stages = constants::stages;
  // What the engine copies at once: at most 256 columns, to rows one after the other.
  static constexpr int box_columns = tile_columns < 256 ? tile_columns : 256;
  static constexpr int box_rows = tile_columns > box_columns ? 1 : tile_rows;
  struct Storage {
    alignas(128) In plane[stages][tile_rows][tile_columns];
    unsigned long long full[stages];
  };

  __device__ PlaneRing(Storage& storage, const Arguments& a, long long first_plane, long long first_row,
                       long long first_column)
      : storage_(storage),
        a_(a),
        plane_(static_cast<int>(first_plane - a.in.begin[0])),
        row_(static_cast<int>(first_row - a.in.begin[1])),
        column_(static_cast<int>((is_across(first_column) ? 0 : first_column) - a.in.begin[2])) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) mbarrier_init(&storage_.full[stage], 1);
      fence_mbarrier_init();
    }
    block_barrier();
#endif
  }

  /// Starts the copy of the next plane, if it is wanted. Its stage must no longer be read by any thread.
  __device__ void fetch(bool wanted) {
    if (wanted) copy_plane();
#if __CUDA_ARCH__ < 900
    commit_copies();  // wait() counts groups, also of no copies
#endif
  }

  /// The next plane once it has arrived. Called by all threads of the block.
  __device__ const In (*wait())[tile_columns] {
    const int stage = wait_;
#if __CUDA_ARCH__ >= 900
    while (!mbarrier_try_wait(&storage_.full[stage], parity_)) {
    }
    if (stage + 1 == stages) parity_ ^= 1;
#else
    wait_for_copies<stages - 2>();
    block_barrier();
#endif
    wait_ = stage + 1 == stages ? 0 : stage + 1;
    return storage_.plane[stage];
  }

 private:
  __device__ void copy_plane() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      mbarrier_expect(&storage_.full[fetch_], sizeof(storage_.plane[0]));
      const bool across = constants::rows_repeat && column_ == 0;
      for (int r = 0; r < tile_rows; r += box_rows)
#pragma unroll
        for (int c = 0; c < tile_columns; c += box_columns)
          if (c == 0 || !across)
            tensor_copy(&storage_.plane[fetch_][r][c], a_.in_map[across], {column_ + c, 0, row_ + r, plane_},
                        &storage_.full[fetch_]);
    }
#else
    constexpr int elements = 16 / sizeof(In), chunks = tile_columns / elements;
    const long long plane = inside(plane_, 0) * a_.in.stride[0];
    for (int i = threadIdx.x; i < tile_rows * chunks; i += 32 * constants::warps) {
      const int row = i / chunks, column = i % chunks * elements;
      const bool end = constants::rows_repeat && column_ == 0 && column >= tile_columns / 2;  // of rows
      const long long x = column_ + column + (end ? a_.row_period - tile_columns : 0),
                      width = a_.in.end[2] - a_.in.begin[2];
      if (x >= 0 && x < width)
        copy_16_bytes(&storage_.plane[fetch_][row][column], static_cast<const In*>(a_.in.data) + plane +
                                                                inside(row_ + row, 1) * a_.in.stride[1] + x);
    }
#endif
    ++plane_;
    fetch_ = fetch_ + 1 == stages ? 0 : fetch_ + 1;
  }

  /// A coordinate clamped to the memory of the input.
  __device__ long long inside(int p, int axis) const {
    return clamp(p, 0, a_.in.end[axis] - a_.in.begin[axis]);
  }

  Storage& storage_;
  const Arguments& a_;
  int plane_, row_, column_;  // of the next box to fetch, relative to the memory of the input
  int fetch_ = 0, wait_ = 0;  // stages
  unsigned parity_ = 0;
};

}  // namespace spsolve::cuda
