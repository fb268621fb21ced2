// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds compile-time properties of a march (march.cuh), the points that a thread holds, and the
// shared memory of a block.

#include "constants.cuh"
#include "kernels/cuda/scalar/plane_pipeline.cuh"
#include "kernels/cuda/scalar/scalar_arguments.hpp"
#include "kernels/cuda/scalar/walls.cuh"

namespace spsolve::cuda {

using namespace constants;

/// R, RY and RX are the radii along planes, rows and columns. A thread has VY x VX points of a plane.
constexpr int R = radius[plane_axis], RY = radius[row_axis], RX = radius[column_axis];
constexpr int VY = rows_per_warp, VX = points_per_lane;

/// Returns true if `test` is true for some tap.
constexpr bool any_tap(bool (*test)(const KernelTap&)) {
  for (int k = 0; k < tap_count; ++k)
    if (test(taps[k])) return true;
  return false;
}
/// Is true if completing a plane needs no neighbours in that plane.
constexpr bool pointwise_completion = R > 0 && !any_tap([](const KernelTap& tap) {
                                        return tap.offset[0] == R && (tap.offset[1] || tap.offset[2]);
                                      });
/// Is true if a tap of another plane also reaches to another row or column.
constexpr bool turns_corners =
    any_tap([](const KernelTap& tap) { return tap.offset[0] && (tap.offset[1] || tap.offset[2]); });
/// Returns true if a tap has this offset along the march.
constexpr bool has_plane(int offset) {
  for (int k = 0; k < tap_count; ++k)
    if (taps[k].offset[0] == offset) return true;
  return false;
}
/// Is true if a tap reaches to another row and another column.
constexpr bool corners = any_tap([](const KernelTap& tap) { return tap.offset[1] && tap.offset[2]; });

constexpr bool has_walls =
    walls[0][0] != Wall::none || walls[1][0] != Wall::none || walls[2][0] != Wall::none;
/// Returns true if the march reflects planes at this neumann face across it.
constexpr bool is_mirror(int side) { return mirrors_planes && walls[plane_axis][side] == Wall::neumann; }
/// Is true if blocks near a face across the march run code of their own. These blocks are few where tiles
/// have one row.
constexpr bool ends_apart = RY == 0;

/// Makes the compiler compute everything that depends on `value` from here on, instead of keeping it in
/// registers since before a loop.
template <class T>
__device__ inline void compute_anew(T& value) {
  asm volatile("" : "+r"(value));
}

/// Holds the points of one thread in a plane.
struct Points {
  Compute at[VY][VX];
};
/// Holds the points of one thread and the neighbours that taps reach.
struct Window {
  Compute at[VY + 2 * RY][VX + 2 * RX];
};

/// Holds the first and last rows of every warp, which the warps above and below read.
struct EdgeRows {
  Compute at[warps][2 * RY > 0 ? 2 * RY : 1][tile_columns];
};
constexpr int shared_levels = RY == 0 ? 0 : pointwise_completion ? depth : 1;

/// Is the ring of planes, with the source plane of a stage R planes ahead of the input plane: as far as level
/// 0 reaches.
using Ring = PlanePipeline<R>;

/// Stores the last plane of a level beside a neumann face; the next plane of a star is its reflection.
template <bool is_needed>
struct LastPlane {
  Points points[32 * warps];

  __device__ Points* points_of_thread() { return &points[threadIdx.x]; }
};
template <>
struct LastPlane<false> {
  __device__ Points* points_of_thread() { return nullptr; }
};

/// Holds the shared memory of a block.
struct MarchSharedMemory : LastPlane<is_mirror(1)> {
  alignas(128) Ring::Storage ring;
  alignas(128) EdgeRows edges[2][shared_levels > 0 ? shared_levels : 1];
};
static_assert(sizeof(MarchSharedMemory) == shared_bytes, "the host must ask for this much");
static_assert(RY <= VY && RX <= VX, "a neighbour must be no farther than the next warp and lane");

}  // namespace spsolve::cuda
