// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file makes the ghost points of march.cuh beyond walls.

#include "kernels/cuda/scalar/march_tile.cuh"

namespace spsolve::cuda {

/// Describes the two faces across one axis, as a thread sees them in its window along that axis. The window
/// has `n` points of the thread and `r` neighbours on either side. Entries beyond a dirichlet face take its
/// value; entries beyond a neumann face take the points that they reflect. Entries farther out have any
/// value.
///
/// `between` tells, for each of the two faces, whether it lies between the points of two threads. A thread
/// then finds it at one known position of its window, otherwise anywhere among its points.
template <int axis, int n, int r, const bool (&between)[2]>
class Faces {
 public:
  /// `first` is the coordinate of the first of the n points.
  __device__ Faces(const ScalarArguments& a, long long first)
      : a_(a), low_(seen<0>(r - first)), high_(seen<1>(n + r + first - a.shape[axis])) {}

  /// Completes the window whose entry e is at(e). `but_mirrors`: entries on sides where mirrors() can be true
  /// are already right.
  template <bool but_mirrors, class At>
  __device__ __forceinline__ void complete(At&& at) const {
    if constexpr (walls[axis][0] != Wall::none) {
      if constexpr (!(but_mirrors && can_mirror<0>)) complete_side<0>(low_, at);
      if constexpr (!(but_mirrors && can_mirror<1>))
        complete_side<1>(high_, [&](int e) -> Compute& { return at(n + 2 * r - 1 - e); });
    }
  }

  /// Returns whether the thread's own points are reflected at a face directly beside them.
  template <int side>
  __device__ bool mirrors() const {
    return can_mirror<side> && (side == 0 ? low_ : high_) != 0;
  }

 private:
  template <int side>
  static constexpr bool can_mirror = between[side] && walls[axis][side] == Wall::neumann;

  /// Returns the bits for a face that has `beyond` entries of the window, counted from its side, beyond it. A
  /// dirichlet face sets one bit for each of these entries, a neumann face one bit for the first point
  /// inside. No bit is set if none of these entries matters.
  template <int side>
  static __device__ unsigned seen(long long beyond) {
    if (beyond <= 0 || beyond >= n + r) return 0;
    const unsigned inside = 1u << beyond;
    return walls[axis][side] == Wall::neumann ? inside : inside - 1;
  }

  template <int side, class At>
  __device__ __forceinline__ void complete_side(unsigned bits, At&& at) const {
    if constexpr (walls[axis][side] == Wall::dirichlet) {
      const Compute value = ghost_value(a_, axis, side);
#pragma unroll
      for (int e = 0; e < (between[side] ? r : n + r - 1); ++e) at(e) = choose(bits, e, value, at(e));
    } else {
#pragma unroll
      for (int inside = between[side] ? r : 1; inside < (between[side] ? r + 1 : n + r); ++inside)
#pragma unroll
        for (int d = 0; d < (inside < r ? inside : r); ++d) {
          Compute& ghost = at(inside - 1 - d);
          ghost = choose(bits, inside, at(inside + d), ghost);
        }
    }
  }

  const ScalarArguments& a_;
  unsigned low_, high_;
};

/// Describes the faces at the ends of rows and columns of a tile.
class TileFaces {
 public:
  __device__ TileFaces(const ScalarArguments& a, long long first_row, long long first_column)
      : rows_(a, first_row + static_cast<int>(threadIdx.x) / 32 * VY),
        columns_(a, first_column + static_cast<int>(threadIdx.x) % 32 * VX) {}

  /// Returns whether a warp beside a face reads its own rows in place of those beyond.
  template <int side>
  __device__ bool mirror_rows() const {
    return rows_.template mirrors<side>();
  }

  /// Completes a window. Rows come after columns (and planes after rows): a point beyond both faces takes the
  /// value of the later axis.
  __device__ __forceinline__ void complete(Window& window) const {
    // Window rows and columns that no tap reads need no ghost points.
    constexpr int row = corners ? 0 : RY, column = corners ? 0 : RX;
#pragma unroll
    for (int w = row; w < VY + 2 * RY - row; ++w)
      columns_.template complete<false>([&](int e) -> Compute& { return window.at[w][e]; });
#pragma unroll
    for (int c = column; c < VX + 2 * RX - column; ++c)
      rows_.template complete<true>([&](int e) -> Compute& { return window.at[e][c]; });
  }

 private:
  Faces<row_axis, VY, RY, faces_between_warps> rows_;
  Faces<column_axis, VX, RX, faces_between_lanes> columns_;
};

/// Keeps the compiler from turning a rarely taken branch into selects that are always executed.
__device__ inline void keep_branch() { __syncwarp(); }

/// Describes the faces across the march. All planes beyond a face have one value: the value of a dirichlet
/// face, or zero where sums take the plane beside a neumann face as its own reflection. Sums reach one plane
/// in that case.
class PlaneFaces {
 public:
  __device__ explicit PlaneFaces(const ScalarArguments& a)
      : a_(a), planes_(static_cast<int>(a.shape[plane_axis])) {}

  /// Returns whether some level is beside or beyond a face when level 0 takes this plane.
  __device__ bool are_near(int plane) const { return plane < depth * R || plane >= first_near_last(); }
  /// Returns the first plane of level 0 that reaches the last face.
  __device__ int first_near_last() const { return planes_ - R; }

  __device__ bool is_beyond(int plane) const {
    return static_cast<unsigned>(plane) >= static_cast<unsigned>(planes_);
  }

  /// Return whether the plane is the first or the last one and its own reflection, or the reflection of the
  /// last one.
  __device__ bool is_mirrored_first(int plane) const { return is_mirror(0) && plane == 0; }
  __device__ bool is_mirrored_last(int plane) const { return is_mirror(1) && plane == planes_ - 1; }
  __device__ bool is_reflection_of_last(int plane) const { return is_mirror(1) && plane == planes_; }

  /// Sets all points of a plane beyond a face to the face's value.
  __device__ void impose(Points& points, int plane) const {
    if (!is_beyond(plane)) return;
    keep_branch();
    const Compute value = plane < 0 ? value_beyond<0>() : value_beyond<1>();
#pragma unroll
    for (int v = 0; v < VY; ++v)
#pragma unroll
      for (int c = 0; c < VX; ++c) points.at[v][c] = value;
  }

 private:
  /// Returns the value of planes beyond a face. At a neumann face it is the zero whose product with the tap
  /// across the face is a negative zero, which leaves sums as they are.
  template <int side>
  __device__ Compute value_beyond() const {
    if constexpr (walls[plane_axis][side] == Wall::dirichlet) return ghost_value(a_, plane_axis, side);
    return any_tap([](const KernelTap& tap) { return tap.offset[0] == 2 * side - 1 && tap.weight < 0; })
               ? 0.0
               : -0.0;
  }

  const ScalarArguments& a_;
  int planes_;
};

}  // namespace spsolve::cuda
