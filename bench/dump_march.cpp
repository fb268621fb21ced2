// SPDX-License-Identifier: Apache-2.0
// Writes the sm_90a machine code of march.cuh for a grid, as ScalarUnit launches it. No GPU is needed:
// dump_march STENCIL:PRECISION:SHAPE:STEPS[:WALLS] CUBIN. WALLS is p, d or n for all axes, or one letter per
// axis, slowest first (default: periodic). Prints the tile and the output of ptxas.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/bench_case.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/place_tiles.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"

namespace {

using namespace spsolve;
using namespace spsolve::cuda;

KernelStencil stencil_of(KernelCase& what) {
  set_walls(what, what.more.empty() ? "p" : what.more[0]);
  return {what.domain, make_preset(what.stencil, what.domain.dimensions, {1, 1, 1}, {}), what.precision,
          false};
}

/// Returns the tile of a launch over the whole grid.
MarchTile tile_of(const KernelCase& what, KernelStencil& stencil, const Formats& formats) {
  const BlockLimits limits;
  stencil.wraps = wrapped_axes(stencil, stencil.grid(), what.precision, what.steps, limits);
  const auto tile = choose_march_tile(stencil, formats, what.steps, limits);
  if (!tile) throw std::runtime_error("march.cuh does not take " + what.text);
  const std::int64_t columns = stencil.shape[column_axis];
  ScalarArguments a{};
  a.shape[column_axis] = columns;
  a.region.end[column_axis] =
      in_whole_vectors({0, columns}, *tile, formats, false, stencil.has_walls(column_axis))[1];
  if (stencil.wraps[column_axis]) a.row_period = static_cast<int>(columns);
  return place_tiles(a, stencil, *tile, 0);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("want STENCIL:PRECISION:SHAPE:STEPS[:WALLS] CUBIN");
  KernelCase what = parse_case(argv[1]);
  KernelStencil stencil = stencil_of(what);
  const Formats formats{what.precision, true, true};
  const MarchTile tile = tile_of(what, stencil, formats);
  const Compiled made =
      KernelCompiler("sm_90a", {})
          .compile_fresh("kernels/cuda/scalar/march.cuh", constants_text(stencil, formats, &tile));
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
