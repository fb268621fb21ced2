// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model of marches on GPUs and that of their walls share these declarations.

#include <array>
#include <optional>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/small_grid_tile.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {

/// Holds a stencil and a grid along the kernel axes, with the limits of a device.
struct MarchModel {
  const Problem& problem;
  const DeviceModel& device;
  cuda::KernelStencil stencil;
  std::array<std::int64_t, 3> shape{};
  cuda::BlockLimits limits;

  MarchModel(const Problem& solved, const DeviceModel& modelled)
      : problem(solved),
        device(modelled),
        stencil(solved.domain, solved.stencil, solved.precision, solved.has_source),
        limits(limits_of(modelled)) {
    const auto axes = cuda::grid_axes(solved.domain);
    for (int k = 0; k < axis_count; ++k) shape[k] = solved.domain.shape[axes[k]];
  }

  const Calibration& costs() const { return device.costs(); }
  bool fp64() const { return problem.precision == Precision::fp64; }
  /// Returns the bytes of a value that kernels compute with.
  int compute_bytes() const { return fp64() ? 8 : 4; }
  bool space() const { return problem.domain.dimensions == 3; }
  std::optional<cuda::MarchTile> tile(int depth) const {
    return cuda::choose_march_tile(stencil, {problem.precision, true, true}, depth, limits);
  }
  /// Returns the axes of the grid along which launches of `fuse` steps need no periodic copies.
  std::array<bool, 3> wraps(int fuse) const {
    return cuda::to_grid_axes(cuda::wrapped_axes(stencil, stencil.grid(), problem.precision, fuse, limits),
                              problem.domain);
  }
  /// Returns the tile of a region that small-grid steps take faster than a march.
  std::optional<cuda::SmallGridTile> small_tile(const std::array<std::int64_t, 3>& extent, int steps) const {
    return cuda::choose_faster_small_grid_tile(stencil, {{}, {extent[0], extent[1], extent[2]}}, steps,
                                               {problem.precision, true, true}, limits);
  }
  /// Returns the seconds that a scheduler issues for a warp, if the device issues `rate` lanes/s.
  double slot(double rate) const {
    return 32 * cuda::schedulers_of_multiprocessor * limits.multiprocessors / rate;
  }
  /// Returns the issue slots that rounding an operand to tf32 takes.
  double rounding_slots() const {
    return problem.precision == Precision::tf32 ? costs().scheduler.rounding_slots : 0;
  }
  /// Returns the seconds of a cycle.
  double cycle() const { return slot(device.scalar_fp32); }
  /// Returns the steps of one kernel, as ScalarUnit::advance() cuts a launch; 0 without a march.
  int depth_of_kernels(int fuse) const {
    const int preferred = cuda::preferred_depth(stencil, {problem.precision, true, true}, limits);
    return preferred > 0 && tile(fuse) ? fuse : preferred;
  }
};

/// Returns the seconds that the kernels of `fuse` steps of a region take to compute, without memory.
double compute_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& region, int fuse);

/// Returns the seconds of one step of a region: by tiles (box_step.cuh, star_step.cuh) or by step.cuh.
double step_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& extent);

/// Returns the seconds of steps with tiles in shared memory (steps.cuh). Blocks wait at the barrier of every
/// step, for their points and for sources.
double tile_seconds(const MarchModel& march, const cuda::SmallGridTile& tile, int steps);

/// Counts the instructions of a point and step in 1D: sums, shuffles and rounding. Beside walls they include
/// the choice between ghost values and points and, for each point that neumann faces mirror, between two
/// points.
double instructions_of_line(const MarchModel& march, bool beside_walls);

/// Returns the seconds of the warp beside a wall in 1D, or 0 if there is none.
double wall_warp_seconds(const MarchModel& march, const cuda::MarchTile& tile);

/// Returns the seconds per launch that walls add to a march of `seconds` on the whole grid.
double wall_seconds(const MarchModel& march, const cuda::MarchTile& tile, int fuse, int depth,
                    double seconds);

}  // namespace spsolve
