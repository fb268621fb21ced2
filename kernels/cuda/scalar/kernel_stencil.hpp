// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/cuda/scalar/scalar_arguments.hpp"
#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// What kernels are generated from: the stencil and the walls in kernel axes.
///
/// Boxes that are their own mirror image along an axis are folded along it, if that saves operations and a
/// march takes them: points that share a weight are added before they are multiplied, and planes that share
/// all weights share the weighted sum of their points, with which the first of them begins unless there is a
/// source. 27 points in 3D take 13 operations instead of 27, 7 x 7 in 2D 24 instead of 49. Such sums round
/// differently from the chain over all taps; each stencil is summed in one way by all kernels.
struct KernelStencil {
  std::vector<Tap> taps;  // in the order of Stencil::taps(), weights as they enter products; of mirrored
                          // pairs of rows and columns that with the offset >= 0
  std::array<std::int64_t, 3> shape{};  // of the grid
  std::array<int, 3> radius{};
  std::array<bool, 3> folded{};
  int operations = 0;  // per point and step
  std::array<std::array<Wall, 2>, 3> walls{};
  bool with_source = false;
  std::array<bool, 3> wraps{};     // axes beyond whose ends points are found at the others
  bool begins_with_plane = false;  // a sum begins with that of its first plane, which is not added to zero

  KernelStencil(const Domain& domain, const Stencil& stencil, Precision precision, bool source);

  Region grid() const { return {{}, {shape[0], shape[1], shape[2]}}; }
  /// Completing a plane of the march needs no neighbour in it (see march.cuh).
  bool pointwise_completion() const { return is_pointwise(radius[plane_axis]); }
  bool has_walls() const;
  /// The same across one axis, and whether one of them is a neumann face.
  bool has_walls(int axis) const { return walls[axis][low] != Wall::none; }
  bool mirrors(int axis) const {
    return walls[axis][low] == Wall::neumann || walls[axis][high] == Wall::neumann;
  }
  /// Of tiles of single steps: the axis that their rows are stacked along, and the one across which they lie.
  /// Without taps across rows, planes take the place of these.
  int tile_axis() const { return radius[row_axis] == 0 ? plane_axis : row_axis; }
  int slow_axis() const { return radius[row_axis] == 0 ? row_axis : plane_axis; }
  /// Whether 32 bits count so many rows of such a tile in memory, in chunks of so many points.
  bool counts_rows(std::int64_t rows, int chunk) const {
    auto points = static_cast<double>(rows);
    for (int axis = tile_axis() + 1; axis < 3; ++axis) points *= static_cast<double>(shape[axis]);
    return points / chunk < 1 << 30;  // fields have a halo, too
  }
  /// Of neumann faces across the march: whether it mirrors them (see march.cuh), or planes beside them are
  /// stepped by other kernels.
  bool mirrors_planes() const;
  bool steps_planes() const { return mirrors(plane_axis) && !mirrors_planes(); }
  /// Whether the march takes planes near some face across it.
  bool has_ghost_planes() const;

 private:
  /// Whether the plane so far along the march has no tap but its centre.
  bool is_pointwise(int plane) const;
};

/// How march.cuh is cut for one depth.
struct Tile {
  int depth = 1;  // steps in one kernel
  int warps = 1;  // stacked along rows
  int rows_per_warp = 1;
  int points_per_lane = 4;            // neighbours in x
  int stages = 3;                     // planes of input, and of the source, in shared memory
  int blocks_per_multiprocessor = 1;  // what registers are limited to
  int column_margin = 0;  // columns of a tile on each side that are not written: halo, to whole 16 bytes
  int across_margin = 0;  // the same of a tile across the ends of rows: others then begin at whole sectors
  int row_margin = 0;     // the same for rows
  int warm_up = 0;        // planes that a block takes before the first that it writes, in planes of full work
  int shared_bytes = 0;
  bool whole_vectors = false;  // every thread writes all of its columns or none
  // Whether walls where rows begin, and where they end, lie between the columns of two lanes; and walls
  // across rows between the rows of two warps.
  std::array<bool, 2> faces_between_lanes{};
  bool faces_between_warps = false;

  int columns() const { return 32 * points_per_lane; }
  int rows() const { return warps * rows_per_warp; }
  /// Rows and columns of a tensor copy (plane_ring.cuh).
  int box_columns() const { return columns() < 256 ? columns() : 256; }
  int box_rows() const { return columns() > box_columns() ? 1 : rows(); }
  int written_columns() const { return columns() - 2 * column_margin; }
  int written_rows() const { return rows() - 2 * row_margin; }
};

/// Types that a kernel reads and writes: fields hold storage, intermediate results of a launch compute
/// precision.
struct Formats {
  Precision storage = Precision::fp64;
  bool in_stored = true, out_stored = true;

  int in_bytes() const;
  int out_bytes() const;
  int compute_bytes() const { return storage == Precision::fp64 ? 8 : 4; }
  friend auto operator<=>(const Formats&, const Formats&) = default;
};

/// What constants.cuh of every kernel has: types, walls, radius.
ConstantsText scalar_constants(const KernelStencil& stencil, const Formats& formats);

/// Those and a table of taps.
ConstantsText tap_constants(const KernelStencil& stencil, const Formats& formats);

/// constants.cuh of march.cuh; `tile` is null for step.cuh and steps.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const Tile* tile);

}  // namespace spsolve::cuda
