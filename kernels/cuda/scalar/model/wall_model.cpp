// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/scalar/model/march_model.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// Returns how much longer a 3D march takes between walls. Tiles beside the ends of rows and columns fill in
/// ghost points, beyond dirichlet faces one by one. If planes lie beyond faces, all tiles of stars test for
/// them, and those of boxes use the code for faces in their warm-up. In 2D blocks end together
/// (wall_cost).
double wall_slowdown(const MarchModel& march, const MarchTile& tile) {
  const Domain& domain = march.domain;
  if (domain.dimensions < 3) return 0;
  const auto share_beside = [&](BoundaryKind kind) {
    double untouched = 1;  // the share of the tiles of a plane
    for (const int axis : {x_axis, y_axis})
      for (const Face& face : domain.faces[axis]) {
        if (face.kind != kind) continue;
        const auto written =
            static_cast<double>(axis == x_axis ? tile.written_columns() : tile.written_rows());
        untouched *= 1 - std::min(1.0, written / static_cast<double>(domain.shape[axis]));
      }
    return 1 - untouched;
  };
  return share_beside(BoundaryKind::dirichlet) * march.costs().walls.beside_values +
         share_beside(BoundaryKind::neumann) * march.costs().walls.beside_mirrors +
         (march.stencil.has_ghost_planes() ? march.costs().walls.asked_planes : 0.0);
}

/// Counts the neumann faces across the march that the march does not mirror.
int stepped_faces(const MarchModel& march) {
  int faces = 0;
  if (march.stencil.mirrors_planes()) return faces;
  for (const Face& face : march.domain.faces[grid_axes(march.domain)[plane_axis]])
    faces += face.kind == BoundaryKind::neumann;
  return faces;
}

/// Returns the seconds of the steps beside stepped_faces(), both at the same time. In 2D small tiles take the
/// steps beside each march; otherwise single steps do, each on the planes that the steps after it need.
double stepped_seconds(const MarchModel& march, int fuse, int depth) {
  const int faces = stepped_faces(march);
  const Region band{{}, {depth * march.stencil.radius[plane_axis], 1, march.shape[column_axis]}};
  if (const auto tile = faces ? choose_small_grid_tile(march.stencil, band, depth, march.compute_bytes(),
                                                       march.rates.limits)
                              : std::nullopt)
    return ceil_div(fuse, depth) * (march.costs().walls.band_kernel + tile->cycles * march.cycle());
  if (faces == 0) return 0;
  MarchModel bands = march;  // the grid of the bands, which both have a face
  bands.shape[plane_axis] = bands.stencil.shape[plane_axis] =
      faces * 3 * depth * march.stencil.radius[plane_axis] / 2;
  return fuse * (march.costs().walls.step_latency + step_seconds(bands, bands.shape));
}

/// Returns the part of stepped_seconds() that a march of `seconds` does not hide. On grids that fill the
/// device blocks leave little room for others; in 2D this holds for stencils of small reach.
double stepped_not_hidden(const MarchModel& march, int fuse, int depth, double seconds) {
  const double stepped = stepped_seconds(march, fuse, depth);
  const Calibration::Walls& costs = march.costs().walls;
  if (static_cast<double>(march.domain.box().points()) < march.costs().launch.enough_points)
    return std::max(
        0.0, stepped - (march.space() ? costs.hidden_small_space : costs.hidden_small_plane) * seconds);
  const bool short_reach = !march.space() && depth * march.stencil.radius[plane_axis] <= 6;
  return short_reach ? std::max(costs.shown_short * stepped, stepped - costs.hidden_short * seconds)
                     : std::max(0.0, stepped - costs.hidden * seconds);
}

}  // namespace

double instructions_of_line(const MarchModel& march, bool beside_walls) {
  const KernelStencil& stencil = march.stencil;
  const Calibration::Walls& costs = march.costs().walls;
  const double words = march.fp64() ? 2 : 1, radius = stencil.radius[column_axis];
  const double inside =
      stencil.operations +
      (march.fp64() ? costs.line_fp64 + costs.line_radius_fp64 * radius : costs.line_radius * radius) +
      (march.precision == Precision::tf32 ? costs.line_tf32 : 0);
  const bool mirrored = stencil.mirrors(column_axis);
  const double taps = static_cast<double>(stencil.taps.size()) - 1;
  return inside + (beside_walls ? words * ((march.fp64() ? costs.line_beside_fp64 : costs.line_beside) +
                                           (mirrored ? taps : 0.0))
                                : 0.0);
}

/// The warp beside a wall waits for its own results, independent of other warps.
double wall_warp_seconds(const MarchModel& march, const MarchTile& tile) {
  if (march.domain.dimensions > 1 || !march.stencil.has_walls()) return 0;
  const double points = tile.depth * tile.points_per_lane,
               beside = points * instructions_of_line(march, true),
               code = beside + points * instructions_of_line(march, false);
  return (march.costs().walls.warp_start +
          beside * march.costs().walls.warp_cycles *
              (code > march.costs().walls.max_code ? march.costs().walls.far_code : 1.0)) *
         march.cycle() / march.costs().launch.fastest_clock;
}

double wall_seconds(const MarchModel& march, const MarchTile& tile, int fuse, int depth, double seconds) {
  return wall_slowdown(march, tile) * seconds + stepped_not_hidden(march, fuse, depth, seconds);
}

double band_seconds(const MarchModel& march, int fuse) {
  const auto axes = grid_axes(march.domain);
  const int deepest = march.depth_of_kernels(fuse), kernels = deepest > 0 ? ceil_div(fuse, deepest) : fuse;
  auto inner = march.shape;
  double seconds = stepped_seconds(march, fuse, ceil_div(fuse, kernels));
  for (int k = 0; k < axis_count; ++k) {
    if (march.domain.periodic(axes[k])) continue;
    const std::int64_t reach = std::min<std::int64_t>(fuse * march.stencil.radius[k], inner[k] / 2);
    auto slab = inner;
    slab[k] = reach;
    inner[k] -= 2 * reach;
    // Beside neumann faces across the march all points are stepped; bands across other axes may have left
    // nothing.
    const int marched = k == plane_axis ? 2 - stepped_faces(march) : 2;
    if (slab[0] * slab[1] * slab[2] > 0)
      seconds += marched * (compute_seconds(march, slab, fuse) +
                            kernels * (deepest == 0                   ? march.costs().walls.band_step
                                       : march.domain.dimensions == 2 ? march.costs().walls.band_tile
                                                                      : march.costs().walls.band_kernel));
  }
  return seconds;
}

}  // namespace spsolve::cuda
