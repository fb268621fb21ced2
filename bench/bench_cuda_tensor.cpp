// SPDX-License-Identifier: Apache-2.0
// Measures sweeps on tensor cores of one GPU: bench_cuda_tensor [--json FILE] [--seconds S] CASE...
// All grids are periodic, and the halo is not refreshed. SHAPE is 10240x10240, slowest axis first.
//
// With a layout, CASE is STENCIL:PRECISION:SHAPE:STEPS:LAYOUT[:dense][:TILE]. LAYOUT morph or strided-swap
// selects MmaSweep, and dense its variant that multiplies zeros. STENCIL is a preset, fused STEPS times, or
// random7r, a box of random weights, which counts as STEPS steps. TILE overrides numbers of MmaTile, as in
// X4Y1x2y1s3c15b2g8: warps and their blocks along x and y, stages, chunks per stage, blocks per
// multiprocessor, output chunks per group. LAYOUT wgmma selects WgmmaSweep. Its TILE is as in x4y1t1r9s4:
// groups of tiles along x and y, multiples of four rows that are converted at once, slots of the ring,
// stages.
//
// Without a layout, CASE is STENCIL:PRECISION:SHAPE:STEPS[:TILE]. STENCIL is a preset, fused STEPS times and
// separated as the precision allows, or rank3r7, random terms of that rank and radius, which counts as STEPS
// steps. TILE overrides numbers of SeparableTile, as in w8g4s3b1W0B1k9: warps (Y: along y, in 3D), groups,
// stages, blocks ahead, blocks per multiprocessor, weights in shared memory, bulk stores, steps per strip.
#include "bench/bench_case.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/tensor/mma_sweep.hpp"
#include "kernels/cuda/tensor/separable_sweep.hpp"
#include "kernels/cuda/tensor/wgmma_sweep.hpp"

namespace spsolve::cuda {
namespace {

/// Returns positive random factors with sum 1 / rank.
SeparableStencil random_terms(int rank, int radius, int dimensions) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> value(0.0, 1.0);
  const Index3 reach{dimensions > 2 ? radius : 0, dimensions > 1 ? radius : 0, radius};
  SeparableStencil stencil{grow(box_of({1, 1, 1}), reach), {}, 0.0};
  for (int k = 0; k < rank; ++k) {
    SeparableTerm term;
    for (int axis = 0; axis < axis_count; ++axis) {
      double sum = 0;
      for (std::int64_t i = 0; i <= 2 * reach[axis]; ++i)
        sum += term.factor[axis].emplace_back(value(random));
      for (double& factor : term.factor[axis]) factor /= sum * (axis == x_axis ? rank : 1);
    }
    stencil.terms.push_back(std::move(term));
  }
  return stencil;
}

SeparableStencil separable_stencil(const KernelCase& what) {
  int rank = 0, radius = 0;
  if (std::sscanf(what.stencil.c_str(), "rank%dr%d", &rank, &radius) == 2)
    return random_terms(rank, radius, what.domain.dimensions);
  const Stencil fused =
      fuse_steps(make_preset(what.stencil, what.domain.dimensions, {1, 1, 1}, {}), what.steps);
  return separate(fused, what.precision == Precision::fp32 ? 0x1p-24 : unit_roundoff(what.precision) / 2);
}

/// Returns `tile` with the numbers in `text` replaced.
SeparableTile with_numbers(SeparableTile tile, const std::string& text) {
  std::istringstream stream(text);
  char key = 0;
  for (int number = 0; stream >> key >> number;) {
    if (key == 'w') tile.warps = number;
    if (key == 'g') tile.groups = number;
    if (key == 'Y') tile.warps_y = number;
    if (key == 's') tile.stages = number;
    if (key == 'a') tile.ahead = number;
    if (key == 'p') tile.groups_at_once = number;
    if (key == 'b') tile.blocks_per_multiprocessor = number;
    if (key == 'W') tile.weights_in_shared = number != 0;
    if (key == 'B') tile.bulk_stores = number != 0;
    if (key == 'S') tile.shifted_rows = number != 0;
    if (key == 'k') tile.steps_per_strip = number;
  }
  return tile;
}

/// Returns the tile of mma_sweep.cuh with the numbers in `text` replaced.
MmaTile with_numbers(MmaTile tile, const std::string& text) {
  std::istringstream stream(text);
  char key = 0;
  for (int number = 0; stream >> key >> number;) {
    if (key == 'X') tile.warps_x = number;
    if (key == 'Y') tile.warps_y = number;
    if (key == 'x') tile.blocks_x = number;
    if (key == 'y') tile.blocks_y = number;
    if (key == 's') tile.stages = number;
    if (key == 'c') tile.chunks_per_stage = number;
    if (key == 'b') tile.blocks_per_multiprocessor = number;
    if (key == 'g') tile.group = number;
  }
  tile.chunks_per_loop = 0;
  return tile;
}

/// Returns the tile of wgmma_sweep.cuh with the numbers in `text` replaced.
WgmmaTile with_numbers(WgmmaTile tile, const std::string& text) {
  std::istringstream stream(text);
  char key = 0;
  for (int number = 0; stream >> key >> number;) {
    if (key == 'x') tile.x_groups = number;
    if (key == 'y') tile.y_groups = number;
    if (key == 't') tile.together = number;
    if (key == 'r') tile.ring = number;
    if (key == 's') tile.stages = number;
  }
  return tile;
}

/// Returns a fused preset, or a box of random weights.
Stencil general_stencil(const KernelCase& what) {
  const int dimensions = what.domain.dimensions;
  int radius = 0;
  if (std::sscanf(what.stencil.c_str(), "random%dr", &radius) != 1)
    return fuse_steps(make_preset(what.stencil, dimensions, {1, 1, 1}, {}), what.steps);
  const std::string box = "random" + std::to_string(dimensions) + "d" + std::to_string(radius) + "r";
  return make_preset(box, dimensions, {1, 1, 1}, {});
}

/// Measures the rate of a sweep. The members of `about` are added to the row.
nlohmann::json bench(const KernelCase& what, const Stream& stream, const Sweep& sweep, const Index3& halo,
                     double seconds, const nlohmann::json& about) {
  nlohmann::json row = measure(what, stream, halo, seconds, [&](const Field& in, Field& out) {
    sweep(in, out, what.domain.box(), nullptr);
  });
  row.update(about);
  return row;
}

nlohmann::json bench_separable(const KernelCase& what, double seconds) {
  const Stream stream;
  const SeparableStencil stencil = separable_stencil(what);
  SeparableTile tile =
      required(SeparableProgram::make(stencil, what.precision, device_info(0).block_limits())).tile();
  if (!what.more.empty()) tile = with_numbers(tile, what.more[0]);
  Index3 halo{};
  for (int axis = 0; axis < axis_count; ++axis)
    halo[axis] = std::max(-stencil.taps.begin[axis], stencil.taps.end[axis] - 1);
  return bench(what, stream, SeparableSweep(stencil, what.precision, stream, tile), halo, seconds,
               {{"unit", "sparse-tensor"},
                {"layout", "separable"},
                {"rank", stencil.terms.size()},
                {"tile", what.more.empty() ? "best" : what.more[0]}});
}

nlohmann::json bench_mma(const KernelCase& what, double seconds) {
  const Stream stream;
  const Stencil stencil = general_stencil(what);
  const Layout layout = parse_layout(what.more[0]).value();
  const bool is_dense =
      what.precision == Precision::fp64 || (what.more.size() > 1 && what.more[1] == "dense");
  const TensorCores cores = is_dense ? TensorCores::dense : TensorCores::sparse;
  MmaTile tile = required(MmaProgram::make(what.domain, stencil, what.precision, layout, cores)).tile();
  const bool given = what.more.size() > 1 && what.more.back() != "dense";
  if (given) tile = with_numbers(tile, what.more.back());
  const MmaSweep sweep(what.domain, stencil, what.precision, layout, cores, stream, tile);
  const MmaProgram& program = sweep.program();
  return bench(what, stream, sweep, stencil.radius(), seconds,
               {{"unit", is_dense ? "tensor" : "sparse-tensor"},
                {"layout", what.more[0]},
                {"operand_tile", program.operand().tile},
                {"instructions_per_128_points", program.instructions()},
                {"shared_bytes", program.shared_bytes()},
                {"tile", given ? what.more.back() : "best"}});
}

nlohmann::json bench_wgmma(const KernelCase& what, double seconds) {
  const Stream stream;
  const Stencil stencil = general_stencil(what);
  const bool given = what.more.size() > 1;
  const WgmmaSweep sweep(stencil, what.precision, stream,
                         given ? with_numbers(WgmmaTile{}, what.more[1]) : WgmmaTile{});
  return bench(what, stream, sweep, stencil.radius(), seconds,
               {{"unit", "sparse-tensor"},
                {"layout", "strided-swap"},
                {"instructions", "wgmma.sp"},
                {"shared_bytes", sweep.program().shared_bytes()},
                {"tile", given ? what.more[1] : "best"}});
}

nlohmann::json bench_sweep(const KernelCase& what, double seconds) {
  const std::string layout = what.more.empty() ? "" : what.more[0];
  return layout == "wgmma"      ? bench_wgmma(what, seconds)
         : parse_layout(layout) ? bench_mma(what, seconds)
                                : bench_separable(what, seconds);
}

}  // namespace
}  // namespace spsolve::cuda

int main(int argc, char** argv) { return spsolve::cuda::bench_cases(argc, argv, spsolve::cuda::bench_sweep); }
