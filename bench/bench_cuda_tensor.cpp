// SPDX-License-Identifier: Apache-2.0
// Rates of sweeps on tensor cores, on one GPU: bench_cuda_tensor [--json FILE] [--seconds S] CASE...
// CASE with a layout is STENCIL:PRECISION:SHAPE:STEPS:LAYOUT[:dense][:TILE], LAYOUT morph or strided-swap and
// dense for the variant that multiplies zeros: MmaSweep. STENCIL is a preset, fused STEPS times, or random7r,
// a box of random weights, which counts as STEPS steps. TILE overrides numbers of MmaTile, as in
// X4Y1x2y1s3c15b2g8: warps and their blocks along x and y, stages, chunks per stage, blocks per
// multiprocessor, chunks of output of a group. LAYOUT wgmma: WgmmaSweep, TILE as in x4y1t1r9s4: groups of
// tiles along x and y, times four rows that are converted at once, slots of the ring, stages.
// Without a layout: CASE is STENCIL:PRECISION:SHAPE:STEPS[:TILE]. STENCIL is a preset, fused STEPS times and
// separated as the precision allows; or rank3r7, random terms of that radius, which counts as STEPS steps.
// SHAPE is 10240x10240, slowest axis first. TILE overrides numbers of SeparableTile, as in w8g4s3b1W0B1k9:
// warps (Y: along y, in 3D), groups, stages, blocks ahead, blocks per multiprocessor, weights in shared
// memory, bulk stores, steps per strip. All on periodic grids; the halo is not refreshed.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "bench/bench_case.hpp"
#include "kernels/cuda/mma_sweep.hpp"
#include "kernels/cuda/separable_sweep.hpp"
#include "kernels/cuda/timing.hpp"
#include "kernels/cuda/wgmma_sweep.hpp"
#include "kernels/presets.hpp"

namespace {

using namespace spsolve;
using namespace spsolve::cuda;
using Json = nlohmann::json;

DeviceMemory device_memory;

/// Positive random factors of sum 1 / rank.
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

SeparableStencil stencil_of(const std::string& name, int dimensions, int steps, Precision precision) {
  int rank = 0, radius = 0;
  if (std::sscanf(name.c_str(), "rank%dr%d", &rank, &radius) == 2)
    return random_terms(rank, radius, dimensions);
  const Stencil fused = fuse_steps(make_preset(name, dimensions, {1, 1, 1}, {}), steps);
  return separate(fused, precision == Precision::fp32 ? 0x1p-24 : unit_roundoff(precision) / 2);
}

/// The numbers of `text` instead of those of `tile`.
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
    if (key == 'k') tile.steps_per_strip = number;
  }
  return tile;
}

/// The same for the tile of mma_sweep.cuh.
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

/// The same for the tile of wgmma_sweep.cuh.
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

/// A preset, fused, or a box of random weights.
Stencil general_stencil(const std::string& name, const Domain& domain, int steps) {
  int radius = 0;
  if (std::sscanf(name.c_str(), "random%dr", &radius) != 1)
    return fuse_steps(make_preset(name, domain.dimensions, {1, 1, 1}, {}), steps);
  const std::string box = "random" + std::to_string(domain.dimensions) + "d" + std::to_string(radius) + "r";
  return make_preset(box, domain.dimensions, {1, 1, 1}, {});
}

/// A sweep, the halo of its fields, and what it is.
struct Measured {
  std::unique_ptr<Sweep> sweep;
  Index3 halo{};
  Json about;
};

Measured separable_case(const std::vector<std::string>& parts, int dimensions, int steps, Precision precision,
                        const Stream& stream, const DeviceInfo& device) {
  const SeparableStencil stencil = stencil_of(parts[0], dimensions, steps, precision);
  SeparableTile tile = SeparableProgram(stencil, precision, device.block_limits()).tile();
  if (parts.size() > 4) tile = with_numbers(tile, parts[4]);
  Measured measured;
  measured.sweep = std::make_unique<SeparableSweep>(stencil, precision, stream, tile);
  for (int axis = 0; axis < axis_count; ++axis)
    measured.halo[axis] = std::max(-stencil.taps.begin[axis], stencil.taps.end[axis] - 1);
  measured.about = {{"unit", "sparse-tensor"},
                    {"layout", "separable"},
                    {"rank", stencil.terms.size()},
                    {"tile", parts.size() > 4 ? parts[4] : "best"}};
  return measured;
}

Measured mma_case(const std::vector<std::string>& parts, const Domain& domain, int steps, Precision precision,
                  const Stream& stream) {
  const Stencil stencil = general_stencil(parts[0], domain, steps);
  const Layout layout = parse_layout(parts[4]).value();
  const bool is_dense = precision == Precision::fp64 || (parts.size() > 5 && parts[5] == "dense");
  const TensorCores cores = is_dense ? TensorCores::dense : TensorCores::sparse;
  MmaTile tile = MmaProgram(domain, stencil, precision, layout, cores).tile();
  const bool given = parts.size() > 5 && parts.back() != "dense";
  if (given) tile = with_numbers(tile, parts.back());
  auto sweep = std::make_unique<MmaSweep>(domain, stencil, precision, layout, cores, stream, tile);
  const MmaProgram& program = sweep->program();
  Json about{{"unit", is_dense ? "tensor" : "sparse-tensor"},
             {"layout", parts[4]},
             {"operand_tile", program.operand().tile},
             {"instructions_per_128_points", program.instructions()},
             {"shared_bytes", program.shared_bytes()},
             {"tile", given ? parts.back() : "best"}};
  return {std::move(sweep), stencil.radius(), std::move(about)};
}

Measured wgmma_case(const std::vector<std::string>& parts, const Domain& domain, int steps,
                    Precision precision, const Stream& stream) {
  const Stencil stencil = general_stencil(parts[0], domain, steps);
  const bool given = parts.size() > 5;
  auto sweep = std::make_unique<WgmmaSweep>(stencil, precision, stream,
                                            given ? with_numbers(WgmmaTile{}, parts[5]) : WgmmaTile{});
  Json about{{"unit", "sparse-tensor"},
             {"layout", "strided-swap"},
             {"instructions", "wgmma.sp"},
             {"shared_bytes", sweep->program().shared_bytes()},
             {"tile", given ? parts[5] : "best"}};
  return {std::move(sweep), stencil.radius(), std::move(about)};
}

Json bench(const std::string& text, double seconds, const DeviceInfo& device) {
  const auto parts = split(text, ':');
  if (parts.size() < 4) throw std::runtime_error("want STENCIL:PRECISION:SHAPE:STEPS[:...], not " + text);
  const Precision precision = parse_precision(parts[1]).value();
  const auto extents = split(parts[2], 'x');
  Domain domain;
  domain.dimensions = static_cast<int>(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i)
    domain.shape[axis_count - extents.size() + i] = std::stoll(extents[i]);
  const int steps = std::stoi(parts[3]);
  const Index3& shape = domain.shape;

  const Stream stream;
  const Measured measured = parts.size() > 4 && parts[4] == "wgmma"
                                ? wgmma_case(parts, domain, steps, precision, stream)
                            : parts.size() > 4 && parse_layout(parts[4])
                                ? mma_case(parts, domain, steps, precision, stream)
                                : separable_case(parts, domain.dimensions, steps, precision, stream, device);
  Field a(box_of(shape), measured.halo, precision, device_memory),
      b(box_of(shape), measured.halo, precision, device_memory);
  fill_random(a);
  fill_random(b);
  Field *in = &a, *out = &b;
  const LaunchTime time = launch_time(stream, seconds, [&] {
    (*measured.sweep)(*in, *out, box_of(shape), nullptr);
    std::swap(in, out);
  });
  const LaunchTime copy = launch_time(stream, seconds / 4, [&] {
    const Index3 begin = a.allocated().begin;
    check_cuda(cudaMemcpyAsync(b.bytes_at(begin), a.bytes_at(begin), a.bytes() - 64, cudaMemcpyDeviceToDevice,
                               stream));
  });
  const double points = static_cast<double>(volume(shape));
  const auto gpoints = [&](double launch_s) { return points / launch_s / 1e9; };
  std::printf("%-56s t=%2d  %6.0f boost %6.0f sustained Gpoints/s  %7.0f GStencil/s  %3.0f%% of copy  %s\n",
              text.c_str(), steps, gpoints(time.boost_s), gpoints(time.sustained_s),
              gpoints(time.sustained_s) * steps, 100 * copy.sustained_s / time.sustained_s,
              measured.about.dump().c_str());
  std::fflush(stdout);
  Json result{{"stencil", parts[0]},
              {"shape", shape},
              {"steps", steps},
              {"precision", parts[1]},
              {"fuse", steps},
              {"device", device.name},
              {"seconds", time.boost_s},
              {"gstencil_per_s", gpoints(time.boost_s) * steps},
              {"seconds_sustained", time.sustained_s},
              {"gstencil_per_s_sustained", gpoints(time.sustained_s) * steps},
              {"bytes_per_point", 2.0 * static_cast<double>(storage_bytes(precision))},
              {"roofline_fraction", copy.sustained_s / time.sustained_s}};
  result.update(measured.about);
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string why;
  if (device_count(&why) == 0) throw std::runtime_error(why);
  const DeviceInfo device = device_info(0);
  Json results = Json::array();
  std::string json, command;
  double seconds = 0.35;
  for (int i = 0; i < argc; ++i) command += (i ? " " : "") + std::string(argv[i]);
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" && i + 1 < argc)
      json = argv[++i];
    else if (argument == "--seconds" && i + 1 < argc)
      seconds = std::stod(argv[++i]);
    else
      try {
        results.push_back(bench(argument, seconds, device));
        results.back().update({{"date", date},
                               {"driver_cuda", device.driver_version},
                               {"cuda", device.runtime_version},
                               {"command", command}});
        if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";  // also of a run that is cut short
      } catch (const std::exception& error) {
        std::printf("%s: %s\n", argv[i], error.what());
      }
  }
} catch (const std::exception& error) {
  std::cerr << "bench_cuda_tensor: " << error.what() << "\n";
  return 5;
}
