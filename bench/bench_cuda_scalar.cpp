// SPDX-License-Identifier: Apache-2.0
// Rates of the scalar unit on one GPU: bench_cuda_scalar [--json FILE]
// STENCIL:PRECISION:SHAPE:STEPS[:WALL[:tight]]... SHAPE is 10240x10240, slowest axis first; STEPS 0 asks the
// unit for its preferred number; WALL is p, d or n (default d). Boost: 12 launches after a rest. Sustained:
// at least 0.35 s of launches back to back after 0.35 s of the same.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "bench/bench_case.hpp"
#include "kernels/cuda/scalar_unit.hpp"
#include "kernels/cuda/timing.hpp"
#include "kernels/presets.hpp"

namespace {

using namespace spsolve;
using namespace spsolve::cuda;
using Json = nlohmann::json;

DeviceMemory device_memory;

Json bench(const std::string& text, const DeviceInfo& device) {
  const auto parts = split(text, ':');
  if (parts.size() < 4) throw std::runtime_error("want STENCIL:PRECISION:SHAPE:STEPS[:WALL], not " + text);
  const Precision precision = parse_precision(parts[1]).value();
  const auto extents = split(parts[2], 'x');
  Domain domain;
  domain.dimensions = static_cast<int>(extents.size());
  const BoundaryKind wall = parts.size() < 5 || parts[4] == "d" ? BoundaryKind::dirichlet
                            : parts[4] == "n"                   ? BoundaryKind::neumann
                                                                : BoundaryKind::periodic;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t axis = axis_count - extents.size() + i;
    domain.shape[axis] = std::stoll(extents[i]);
    domain.faces[axis] = {Face{wall, 0.5}, Face{wall, 0.5}};
  }
  const Stencil stencil = make_preset(parts[0], domain.dimensions, {1, 1, 1}, {});
  const Stream stream;
  const ScalarUnit unit(domain, stencil, precision, nullptr, stream);
  const int steps = std::stoi(parts[3]) ? std::stoi(parts[3]) : unit.preferred_steps();

  Index3 halo = steps * stencil.radius();
  if (parts.size() > 5) halo = {};  // "tight": no halo beside walls
  Field a(domain.box(), halo, precision, device_memory), b(domain.box(), halo, precision, device_memory);
  fill_random(a);
  const auto before = std::chrono::steady_clock::now();
  unit.prepare(steps);
  const double prepare_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();

  Field *in = &a, *out = &b;
  const LaunchTime rate = launch_time(stream, 0.35, [&] {
    unit.advance(*in, *out, domain.box(), steps);
    std::swap(in, out);
  });
  const LaunchTime copy = launch_time(stream, 0.35, [&] {
    const Index3 begin = a.allocated().begin;
    check_cuda(cudaMemcpyAsync(b.bytes_at(begin), a.bytes_at(begin), a.bytes() - 64, cudaMemcpyDeviceToDevice,
                               stream));
  });
  const double points = static_cast<double>(domain.box().points());
  const double bytes = 2.0 * static_cast<double>(storage_bytes(precision));
  const auto gstencil = [&](double seconds) { return points * steps / seconds / 1e9; };
  std::printf("%-28s t=%2d  %7.1f boost  %7.1f sustained GStencil/s  %4.0f%% of copy  (compile %.2f s)\n",
              text.c_str(), steps, gstencil(rate.boost_s), gstencil(rate.sustained_s),
              100 * copy.sustained_s / rate.sustained_s, prepare_s);
  std::fflush(stdout);
  return {{"stencil", parts[0]},
          {"shape", domain.shape},
          {"steps", steps},
          {"precision", parts[1]},
          {"unit", "scalar"},
          {"layout", "none"},
          {"fuse", steps},
          {"walls", parts.size() < 5 ? "d" : parts[4]},
          {"device", device.name},
          {"seconds", rate.boost_s},
          {"gstencil_per_s", gstencil(rate.boost_s)},
          {"seconds_sustained", rate.sustained_s},
          {"gstencil_per_s_sustained", gstencil(rate.sustained_s)},
          {"bytes_per_point", bytes},
          {"roofline_fraction", copy.sustained_s / rate.sustained_s},
          {"copy_bytes_per_s", points * bytes / copy.sustained_s},
          {"compile_s", prepare_s}};
}

}  // namespace

int main(int argc, char** argv) try {
  std::string why;
  if (device_count(&why) == 0) throw std::runtime_error(why);
  const DeviceInfo device = device_info(0);
  Json results = Json::array();
  std::string json, command;
  for (int i = 0; i < argc; ++i) command += (i ? " " : "") + std::string(argv[i]);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json" && i + 1 < argc)
      json = argv[++i];
    else
      try {
        results.push_back(bench(argv[i], device));
      } catch (const std::exception& error) {
        std::printf("%s: %s\n", argv[i], error.what());
      }
  }
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  for (Json& result : results)
    result.update({{"date", date},
                   {"driver_cuda", device.driver_version},
                   {"cuda", device.runtime_version},
                   {"command", command}});
  if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
} catch (const std::exception& error) {
  std::cerr << "bench_cuda_scalar: " << error.what() << "\n";
  return 5;
}
