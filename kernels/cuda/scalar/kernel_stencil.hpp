// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/scalar/scalar_arguments.hpp"
#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// Describes the stencil and the walls in kernel axes, from which kernels are generated.
///
/// Box stencils that are their own mirror image along an axis are folded along it, if that saves operations
/// and a march takes them. Points that share a weight are added before they are multiplied. Planes that share
/// all weights share the weighted sum of their points; a result begins with the sum of its first plane unless
/// there is a source.
///
/// 27 points in 3D take 13 operations instead of 27, 7 x 7 points in 2D 24 instead of 49. Folded sums round
/// differently from the chain over all taps, so all kernels sum a stencil in the same way.
struct KernelStencil {
  std::vector<KernelTap> taps;  // in the order of Stencil::taps(), weights as operands; of mirrored rows and
                                // columns only those with offset >= 0
  std::array<std::int64_t, 3> shape{};  // the shape of the grid
  std::array<int, 3> radius{};
  std::array<bool, 3> folded{};
  int operations = 0;  // instructions per point and step
  int flops = 0;       // floating-point operations of these: two of a multiply-add
  std::array<std::array<Wall, 2>, 3> walls{};
  bool with_source = false;
  double source_factor = 1;  // factor of the source
  /// Is true for an equation with two time levels: a step adds source_factor times the values one step
  /// before. The source of the first step holds these values. Only the march computes these steps; it writes
  /// its last two levels.
  bool two_levels = false;
  std::array<bool, 3> wraps{};     // periodic axes at whose ends kernels wrap indices
  bool begins_with_plane = false;  // a sum begins with that of its first plane instead of adding it to zero

  KernelStencil(const Domain& domain, const Stencil& stencil, Precision precision, bool source);

  Region grid() const { return {{}, {shape[0], shape[1], shape[2]}}; }
  /// Returns true if completing a plane of the march needs no neighbours within that plane (see march.cuh).
  bool pointwise_completion() const { return is_pointwise(radius[plane_axis]); }
  bool has_walls() const;
  /// Return true if an axis has walls, and if one of its faces is a neumann face.
  bool has_walls(int axis) const { return walls[axis][low] != Wall::none; }
  bool mirrors(int axis) const {
    return walls[axis][low] == Wall::neumann || walls[axis][high] == Wall::neumann;
  }
  /// Return the axes of single-step tiles: rows of a tile are stacked along tile_axis(), and blocks proceed
  /// along slow_axis(). Without taps across rows, planes take the role of rows.
  int tile_axis() const { return radius[row_axis] == 0 ? plane_axis : row_axis; }
  int slow_axis() const { return radius[row_axis] == 0 ? row_axis : plane_axis; }
  /// Returns true if 32 bits can count the points of `rows` rows of a tile in memory, in chunks of `chunk`
  /// points.
  bool counts_rows(std::int64_t rows, int chunk) const {
    auto points = static_cast<double>(rows);
    for (int axis = tile_axis() + 1; axis < 3; ++axis) points *= static_cast<double>(shape[axis]);
    return points / chunk < 1 << 30;  // leaves room for the halo of fields
  }
  /// Returns true if the march itself reflects planes at its neumann faces (see march.cuh). Otherwise other
  /// kernels step the planes beside these faces (has_stepped_planes()).
  bool mirrors_planes() const;
  bool has_stepped_planes() const { return mirrors(plane_axis) && !mirrors_planes(); }
  /// Returns true if the march makes ghost points near some face across it.
  bool has_ghost_planes() const;

 private:
  /// Returns true if the plane at this offset along the march has no tap except its centre.
  bool is_pointwise(int plane) const;
};

}  // namespace spsolve::cuda
