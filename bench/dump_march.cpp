// SPDX-License-Identifier: Apache-2.0
// The machine code of march.cuh for a grid, as ScalarUnit launches it; no GPU is needed:
// dump_march STENCIL:PRECISION:SHAPE:STEPS[:WALLS] CUBIN [ARCHITECTURE]. WALLS: p, d or n for each axis, slowest
// first (default: periodic). Prints the tile and what ptxas says.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bench_case.hpp"
#include "kernels/cuda/program.hpp"
#include "kernels/cuda/tile.hpp"
#include "kernels/presets.hpp"

namespace {

using namespace spsolve;
using namespace spsolve::cuda;

KernelStencil stencil_of(BenchCase& what) {
  const std::string walls = what.more.empty() ? std::string(3, 'p') : what.more[0];
  for (int axis = what.domain.first_axis(); axis < axis_count; ++axis) {
    const char wall = walls.at(static_cast<std::size_t>(axis - what.domain.first_axis()));
    const Face face{wall == 'd'   ? BoundaryKind::dirichlet
                    : wall == 'n' ? BoundaryKind::neumann
                                  : BoundaryKind::periodic};
    what.domain.faces[axis] = {face, face};
  }
  return {what.domain, make_preset(what.stencil, what.domain.dimensions, {1, 1, 1}, {}), what.precision,
          false};
}

/// That of a launch over the whole grid.
Tile tile_of(const BenchCase& what, KernelStencil& stencil, const Formats& formats) {
  const BlockLimits limits;
  stencil.rows_repeat = rows_repeat(stencil, what.precision, what.steps, limits);
  auto tile = choose_tile(stencil, formats, what.steps, limits);
  if (!tile) throw std::runtime_error("march.cuh does not take " + what.text);
  Arguments placed{};
  placed.shape[column_axis] = placed.region.end[column_axis] = stencil.shape[column_axis];
  if (stencil.rows_repeat) placed.row_period = static_cast<int>(stencil.shape[column_axis]);
  place_column_tiles(placed, *tile, 0);
  const bool has_ends = stencil.has_walls(column_axis);
  if (has_ends && stencil.radius[plane_axis] > 0) keep_tiles_from_walls(placed, *tile);
  tile->whole_vectors = writes_whole_vectors(placed, *tile);
  if (has_ends) tile->faces_between_lanes = faces_between_lanes(placed, *tile);
  return *tile;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3)
    throw std::runtime_error("want STENCIL:PRECISION:SHAPE:STEPS[:WALLS] CUBIN [ARCHITECTURE]");
  BenchCase what = parse_case(argv[1]);
  KernelStencil stencil = stencil_of(what);
  const Formats formats{what.precision, true, true};
  const Tile tile = tile_of(what, stencil, formats);
  const Compiled made = KernelCompiler(argc > 3 ? argv[3] : "sm_90a", {})
                            .compile_fresh("march.cuh", constants_text(stencil, formats, &tile));
  std::ofstream file(argv[2], std::ios::binary);
  file.write(made.cubin.data(), static_cast<std::streamsize>(made.cubin.size()));
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + argv[2]);
  std::printf("%d warps of %d rows, %d points per lane; %d x %d points written\n%s\n", tile.warps,
              tile.rows_per_warp, tile.points_per_lane, tile.written_rows(), tile.written_columns(),
              made.log.c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "dump_march: %s\n", error.what());
  return 1;
}
