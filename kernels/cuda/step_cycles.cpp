// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/step_cycles.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/cuda/launch_shape.hpp"

namespace spsolve::cuda {
namespace {

// Measured on H200 (docs/plan.md).
constexpr double first_cache_bytes = 107, second_cache_cycles = 0.193;  // in a cycle; of a point of a row
constexpr double row_cycles = 0.42;  // of the first cache, for another row of a warp and tap
constexpr int most_unrolled_taps = 512;
constexpr double tap_cycles = 39, loop_cycles = 322;  // until a tap of a step is done, unrolled or not
constexpr double slots_of_cycle = 107;
constexpr double mirror_slots = 10, constant_slots = 12;  // of a tap of a step beside walls
constexpr double offset_slots = 24;  // of an offset within reach, along three axes, before the taps

/// What the sum of a point reads.
struct Operands {
  int points = 0;
  std::array<std::set<int>, 3> offsets;        // along each axis
  std::map<int, std::set<int>> rows_of_plane;  // planes and rows as tiles have them

  int extent(int axis) const { return *offsets[axis].rbegin() - *offsets[axis].begin() + 1; }
};

Operands operands_of(const KernelStencil& stencil) {
  Operands all;
  for (const Tap& tap : stencil.taps) {
    int points = 1;
    for (int axis = 0; axis < axis_count; ++axis) {
      const bool pair = axis != plane_axis && stencil.folded[axis] && tap.offset[axis] != 0;
      points *= pair ? 2 : 1;
      for (const int offset : {tap.offset[axis], pair ? -tap.offset[axis] : tap.offset[axis]}) {
        all.offsets[axis].insert(offset);
        if (axis == stencil.tile_axis()) all.rows_of_plane[tap.offset[stencil.slow_axis()]].insert(offset);
      }
    }
    all.points += points;
  }
  return all;
}

/// Rows of input per row of results that the second cache gives: in every plane those within reach of as many
/// rows as the threads of a block take.
double rows_read(const Operands& operands, double columns) {
  constexpr double threads = 256;
  const double together = std::max(1.0, threads / columns);
  double read = 0;
  for (const auto& [plane, rows] : operands.rows_of_plane)
    read += std::min(static_cast<double>(rows.size()),
                     1 + static_cast<double>(*rows.rbegin() - *rows.begin()) / together);
  return read;
}

/// Issue slots of a point beside walls: what every kind of them takes of a tap, and of offsets before.
double wall_slots(const KernelStencil& stencil, const Operands& operands, bool fp64) {
  bool constants = false, mirrors = false;
  for (const auto& faces : stencil.walls)
    for (const Wall wall : faces) {
      constants = constants || wall == Wall::dirichlet;
      mirrors = mirrors || wall == Wall::neumann;
    }
  return operands.points * (constants * (fp64 ? 1.25 : 1.0) * constant_slots + mirrors * mirror_slots) +
         offset_slots * std::max({operands.extent(0), operands.extent(1), operands.extent(2)});
}

/// The share of warps that have points beside walls: they take both ways through the kernel.
double warps_beside_walls(const KernelStencil& stencil, const Region& region, const Operands& operands) {
  double inner = 1;
  for (int axis = 0; axis < axis_count; ++axis) {
    if (!stencil.has_walls(axis)) continue;
    const bool band = region.extent(axis) < stencil.shape[axis];
    // The end of a row and the beginning of the next lie in one warp.
    const double beside = operands.extent(axis) - 1 + (axis == column_axis ? 32 : 0);
    inner *= band ? 0 : std::max(0.0, 1 - beside / static_cast<double>(stencil.shape[axis]));
  }
  return 1 - inner;
}

}  // namespace

double step_cycles(const KernelStencil& stencil, const Region& region, const Formats& formats,
                   const BlockLimits& limits) {
  const Operands operands = operands_of(stencil);
  const double points = static_cast<double>(region.extent(0) * region.extent(1) * region.extent(2)) /
                        limits.multiprocessors,
               columns = static_cast<double>(region.extent(column_axis)), taps = operands.points;
  if (operands.points > most_unrolled_taps) return taps * loop_cycles * std::max(1.0, points / 1024);
  const double bytes = std::max(4, formats.in_bytes()),
               more_rows = std::max(0.0, 32 / columns - 1),  // of a warp
      first = taps * (bytes / first_cache_bytes + more_rows * row_cycles / 32),
               second = second_cache_cycles * (rows_read(operands, columns) + stencil.with_source),
               slots = taps * (formats.storage == Precision::tf32 ? rounding_slots : 0.0) +
                       warps_beside_walls(stencil, region, operands) *
                           wall_slots(stencil, operands, formats.compute_bytes() == 8);
  return points * (std::hypot(first, second) + slots / slots_of_cycle) + taps * tap_cycles;
}

}  // namespace spsolve::cuda
