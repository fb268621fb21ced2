// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the rings of planes in shared memory that a march of a group of statements reads. Include
// it after constants.cuh.

#include "kernels/cuda/system/group_values.cuh"

extern __shared__ __align__(128) unsigned char memory[];

namespace spsolve::cuda {
namespace {

constexpr int rows_of_thread = constants::rows_of_thread;
constexpr int tile_rows = constants::thread_rows * rows_of_thread;
constexpr int warp_threads = 32;  // along a row
#if __CUDA_ARCH__ >= 900
constexpr int ghost_threads = constants::ghost_warps * warp_threads;
#else
constexpr int ghost_threads = constants::threads;
#endif

/// Is the tile of a block, given by its first point.
struct Tile {
  int plane, row, column;
};

/// Returns the number in a ring of the plane that arrives in iteration n.
template <int i>
__device__ inline int slot_of(int n) {
  return static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(constants::ring_depth[i]));
}
template <int i>
__device__ inline Element<i>* plane_in_ring(int slot) {
  return reinterpret_cast<Element<i>*>(memory + constants::ring_offset[i] + slot * constants::plane_bytes[i]);
}

/// Fills a plane with the value of a face across the march, by threads first, first + step, ...
template <int i>
__device__ inline void fill_plane(int slot, Compute value, int first, int step) {
  Element<i>* const to = plane_in_ring<i>(slot);
  for (int j = first; j < constants::ring_rows[i] * constants::ring_pitch[i]; j += step) store(to[j], value);
}

}  // namespace
}  // namespace spsolve::cuda
