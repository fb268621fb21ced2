// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/small_grid_tile.hpp"

namespace spsolve::cuda {

/// Holds the rates on which the speed of the scalar unit depends, for the whole device.
struct ScalarRates {
  double bandwidth = 0;       // bytes/s of memory, read + write
  double fp64 = 0, fp32 = 0;  // multiply-adds/s
  BlockLimits limits;
};

/// Describes what the scalar unit does in a launch, per point and step.
struct ScalarWork {
  double bytes = 0;  // to and from main memory
  double fma = 0;    // executed, including points computed twice; an addition of points counts half
  double memory_seconds = 0, compute_seconds = 0;
  double wall_seconds = 0;      // points beside walls: time beyond that of other points
  double seconds = 0;           // the time of these three together
  double gap_seconds = 0;       // between the kernels of a launch, not in `seconds`
  double fill_seconds = 0;      // a march's start where part of the device is idle, not in `seconds`
  std::array<bool, 3> wraps{};  // axes of the grid without periodic copies
};

/// Holds a stencil and a grid along the kernel axes, with the rates and limits of a device.
struct MarchModel {
  const Domain& domain;  // must outlive the model
  Precision precision;
  ScalarRates rates;
  std::size_t taps;  // of the weights, before any are folded
  KernelStencil stencil;
  std::array<std::int64_t, 3> shape{};

  MarchModel(const Domain& grid, const Stencil& weights, Precision computed, bool with_source,
             const ScalarRates& device)
      : domain(grid),
        precision(computed),
        rates(device),
        taps(weights.taps().size()),
        stencil(grid, weights, computed, with_source) {
    const auto axes = grid_axes(grid);
    for (int k = 0; k < axis_count; ++k) shape[k] = grid.shape[axes[k]];
  }

  const Calibration& costs() const { return rates.limits.costs(); }
  bool fp64() const { return precision == Precision::fp64; }
  /// Returns the multiply-adds/s of the device in the precision of the sums.
  double lane_rate() const { return fp64() ? rates.fp64 : rates.fp32; }
  /// Returns the bytes of a value that kernels compute with.
  int compute_bytes() const { return fp64() ? 8 : 4; }
  bool space() const { return domain.dimensions == 3; }
  std::optional<MarchTile> tile(int depth) const {
    return choose_march_tile(stencil, {precision, true, true}, depth, rates.limits);
  }
  /// Returns the axes of the grid along which launches of `fuse` steps need no periodic copies.
  std::array<bool, 3> wraps(int fuse) const {
    return to_grid_axes(wrapped_axes(stencil, stencil.grid(), precision, fuse, rates.limits), domain);
  }
  /// Returns the tile of a region that small-grid steps take faster than a march.
  std::optional<SmallGridTile> small_tile(const std::array<std::int64_t, 3>& extent, int steps) const {
    return choose_faster_small_grid_tile(stencil, {{}, {extent[0], extent[1], extent[2]}}, steps,
                                         {precision, true, true}, rates.limits);
  }
  /// Returns the seconds that a scheduler issues for a warp, if the device issues `rate` lanes/s.
  double slot(double rate) const {
    return 32 * schedulers_of_multiprocessor * rates.limits.multiprocessors / rate;
  }
  /// Returns the issue slots that rounding an operand to tf32 takes.
  double rounding_slots() const {
    return precision == Precision::tf32 ? costs().scheduler.rounding_slots : 0;
  }
  /// Returns the seconds of a cycle.
  double cycle() const { return slot(rates.fp32); }
  /// Returns the steps of one kernel, as ScalarUnit::advance() cuts a launch; 0 without a march.
  int depth_of_kernels(int fuse) const {
    const int preferred = preferred_depth(stencil, {precision, true, true}, rates.limits);
    return preferred > 0 && tile(fuse) ? fuse : preferred;
  }
};

/// Returns the work of launches of `fuse` steps over the grid.
ScalarWork scalar_work(const MarchModel& march, int fuse);

/// Returns the seconds that the scalar unit takes for the points within reach of walls, one region after the
/// other, while a sweep takes the others.
double band_seconds(const MarchModel& march, int fuse);

/// Returns the seconds that the kernels of `fuse` steps of a region take to compute, without memory.
double compute_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& region, int fuse);

/// Returns the seconds of one step of a region: by tiles (box_step.cuh, star_step.cuh) or by step.cuh.
double step_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& extent);

/// Returns the seconds of steps with tiles in shared memory (steps.cuh). Blocks wait at the barrier of every
/// step, for their points and for sources.
double tile_seconds(const MarchModel& march, const SmallGridTile& tile, int steps);

/// Counts the instructions of a point and step in 1D: sums, shuffles and rounding. Beside walls they include
/// the choice between ghost values and points and, for each point that neumann faces mirror, between two
/// points.
double instructions_of_line(const MarchModel& march, bool beside_walls);

/// Returns the seconds of the warp beside a wall in 1D, or 0 if there is none.
double wall_warp_seconds(const MarchModel& march, const MarchTile& tile);

/// Returns the seconds per launch that walls add to a march of `seconds` on the whole grid.
double wall_seconds(const MarchModel& march, const MarchTile& tile, int fuse, int depth, double seconds);

}  // namespace spsolve::cuda
