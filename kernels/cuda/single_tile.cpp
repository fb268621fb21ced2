// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/single_tile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace spsolve::cuda {
namespace {

double cycles_of_step(const KernelStencil& stencil, const Region& region, const Formats& formats,
                      const BlockLimits& limits) {
  // On H200: points x taps in a cycle of a multiprocessor, fp32 and fp64; cycles of a row of a point from the
  // second cache; and of a tap at least.
  constexpr double rate = 20, rate_fp64 = 14, row_cycles = 0.2, tap_cycles = 40;
  const auto extent = [&](int axis) { return static_cast<double>(region.extent(axis)); };
  const double points = extent(0) * extent(1) * extent(2) / limits.multiprocessors,
               taps = static_cast<double>(stencil.taps.size());
  return taps * tap_cycles + points * std::hypot(taps / (formats.compute_bytes() == 8 ? rate_fp64 : rate),
                                                 row_cycles * rows_of_step(stencil, extent(column_axis)));
}

}  // namespace

double rows_of_step(const KernelStencil& stencil, double columns) {
  constexpr double threads = 256;
  const bool plane = stencil.shape[row_axis] == 1;  // whose rows are planes of the kernel
  const int slow_axis = plane ? row_axis : plane_axis, rows_axis = plane ? plane_axis : row_axis;
  std::map<int, std::set<int>> rows_of_plane;
  for (const Tap& tap : stencil.taps) {
    auto& rows = rows_of_plane[tap.offset[slow_axis]];
    const int row = tap.offset[rows_axis];
    rows.insert(row);
    if (stencil.folded[rows_axis]) rows.insert(-row);
  }
  const double together = std::max(1.0, threads / columns);
  double read = 0;
  for (const auto& [slow, rows] : rows_of_plane)
    read += std::min(static_cast<double>(rows.size()),
                     1 + static_cast<double>(*rows.rbegin() - *rows.begin()) / together);
  return read;
}

std::optional<SingleTile> choose_single_tile(const KernelStencil& stencil, const Region& region,
                                             const Formats& formats, const BlockLimits& limits) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (region.extent(axis) < 1) return std::nullopt;  // bands beside walls may be empty
  std::optional<SingleTile> best;
  double least = cycles_of_step(stencil, region, formats, limits);
  const auto consider = [&](const auto& tile) {
    if (!tile || tile->cycles >= least) return;
    least = tile->cycles;
    best = *tile;
  };
  consider(choose_box_tile(stencil, region, formats, limits));
  consider(choose_star_tile(stencil, region, formats, limits));
  return best;
}

}  // namespace spsolve::cuda
