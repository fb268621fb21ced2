// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/scalar_constants.hpp"

namespace spsolve::cuda {
namespace {

// Limits the points that a sum of step.cuh reads if its loop is unrolled; longer code would not stay in the
// instruction cache.
constexpr int max_unrolled_points = 512;

const char* wall_name(Wall wall) {
  return wall == Wall::none ? "Wall::none" : wall == Wall::dirichlet ? "Wall::dirichlet" : "Wall::neumann";
}

}  // namespace

ConstantsText scalar_constants(const KernelStencil& stencil, const Formats& formats) {
  ConstantsText text({"kernels/cuda/scalar/scalar_arguments.hpp", "kernels/cuda/ptx/precision.cuh"});
  const char* stored = stored_name(formats.storage);
  const char* compute = formats.storage == Precision::fp64 ? "double" : "float";
  text.type("Stored", stored);
  text.type("Compute", compute);
  text.type("In", formats.in_stored ? stored : compute);
  text.type("Out", formats.out_stored ? stored : compute);
  std::string walls = "{";
  for (const auto& faces : stencil.walls)
    walls += std::string("{") + wall_name(faces[low]) + ", " + wall_name(faces[high]) + "}, ";
  text.put("Wall", "walls[3][2]", walls + "}");
  text.put("int", "radius[3]", ConstantsText::list(stencil.radius));
  text.put("bool", "folded[3]", ConstantsText::list(stencil.folded));
  text.put("bool", "wrapped[3]", ConstantsText::list(stencil.wraps));
  text.flag("with_source", stencil.with_source);
  text.put(compute, "source_factor", ConstantsText::number(stencil.source_factor));
  text.flag("two_levels", stencil.two_levels);
  return text;
}

ConstantsText tap_constants(const KernelStencil& stencil, const Formats& formats) {
  ConstantsText text = scalar_constants(stencil, formats);
  const int tap_count = static_cast<int>(stencil.taps.size());
  text.integer("tap_count", tap_count);
  text.line("__device__ constexpr KernelTap taps[] = {");
  for (const KernelTap& tap : stencil.taps)
    text.line("  {{" + std::to_string(tap.offset[0]) + ", " + std::to_string(tap.offset[1]) + ", " +
              std::to_string(tap.offset[2]) + "}, " + ConstantsText::number(tap.weight) + "},");
  text.line("};");
  return text;
}

std::string constants_text(const KernelStencil& stencil, const Formats& formats, const MarchTile* tile) {
  ConstantsText text = tap_constants(stencil, formats);
  text.flag("begins_with_plane", stencil.begins_with_plane);
  text.flag("mirrors_planes", stencil.mirrors_planes());
  text.flag("has_ghost_planes", stencil.has_ghost_planes());
  const int tap_count = static_cast<int>(stencil.taps.size());
  const int points = tap_count * (stencil.folded[row_axis] ? 2 : 1) * (stencil.folded[column_axis] ? 2 : 1);
  text.integer("taps_to_unroll", points <= max_unrolled_points ? tap_count : 8);
  if (tile) {
    text.integer("depth", tile->depth);
    text.integer("warps", tile->warps);
    text.integer("rows_per_warp", tile->rows_per_warp);
    text.integer("points_per_lane", tile->points_per_lane);
    text.integer("stages", tile->stages);
    text.integer("blocks_per_multiprocessor", tile->blocks_per_multiprocessor);
    text.integer("column_margin", tile->column_margin);
    text.integer("across_margin", tile->across_margin);
    text.integer("shared_bytes", tile->shared_bytes);
    text.flag("whole_vectors", tile->whole_vectors);
    const bool warps = tile->faces_between_warps;
    text.put("bool", "faces_between_lanes[2]", ConstantsText::list(tile->faces_between_lanes));
    text.put("bool", "faces_between_warps[2]", ConstantsText::list(std::array{warps, warps}));
  }
  return text.finished();
}

}  // namespace spsolve::cuda
