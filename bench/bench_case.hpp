// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/runtime/timing.hpp"
#include "kernels/domain.hpp"
#include "kernels/field.hpp"
#include "kernels/magnitude.hpp"

/// This file holds the code that the benchmarks of kernels on one GPU share.
namespace spsolve::cuda {

/// Describes a case, read from a text: STENCIL:PRECISION:SHAPE:STEPS[:MORE...], such as
/// star2d1r:fp32:10240x10240:8.
struct KernelCase {
  std::string text, stencil;
  Precision precision;
  Domain domain;  // periodic
  int steps;      // per launch
  std::vector<std::string> more;
};

inline KernelCase parse_case(const std::string& text) {
  const auto split = [](const std::string& whole, char separator) {
    std::istringstream stream(whole);
    std::vector<std::string> parts;
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
  };
  const auto parts = split(text, ':');
  if (parts.size() < 4) throw std::runtime_error("want STENCIL:PRECISION:SHAPE:STEPS[:...], not " + text);
  const auto extents = split(parts[2], 'x');
  Domain domain{static_cast<int>(extents.size()), {1, 1, 1}, {}};
  std::transform(extents.begin(), extents.end(), domain.shape.begin() + domain.first_axis(),
                 [](const std::string& extent) { return std::stoll(extent); });
  return {text,
          parts[0],
          parse_precision(parts[1]).value(),
          domain,
          std::stoi(parts[3]),
          {parts.begin() + 4, parts.end()}};
}

/// Sets the boundary kinds from letters p, d or n: one for all axes, or one per axis, slowest first.
inline void set_walls(KernelCase& what, std::string letters) {
  const auto axes = static_cast<std::size_t>(what.domain.dimensions);
  if (letters.size() == 1) letters.resize(axes, letters[0]);
  if (letters.size() != axes || letters.find_first_not_of("pdn") != std::string::npos)
    throw std::runtime_error("want p, d or n, one or one for each axis: " + what.text);
  for (std::size_t k = 0; k < axes; ++k) {
    const Face face{letters[k] == 'd'   ? BoundaryKind::dirichlet
                    : letters[k] == 'n' ? BoundaryKind::neumann
                                        : BoundaryKind::periodic,
                    0.5};
    what.domain.faces[static_cast<std::size_t>(what.domain.first_axis()) + k] = {face, face};
  }
}

/// Fills a field in device memory with random values in [0, 1). The same 16 MB are repeated, since no kernel
/// depends on the data.
inline void fill_random(Field& field) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> value(0.0, 1.0);
  with_storage(field.precision(), [&]<class Storage>() {
    std::vector<Storage> block((std::size_t{16} << 20) / sizeof(Storage));
    for (Storage& element : block) element = to_storage<Storage>(value(random));
    const std::size_t lead = reinterpret_cast<std::uintptr_t>(field.bytes_at(field.allocated().begin)) % 64;
    std::byte* begin = field.bytes_at(field.allocated().begin) - lead;
    for (std::size_t done = 0; done < field.bytes(); done += block.size() * sizeof(Storage))
      check_cuda(cudaMemcpy(begin + done, block.data(),
                            std::min(block.size() * sizeof(Storage), field.bytes() - done),
                            cudaMemcpyHostToDevice));
  });
  const int largest = magnitude(1.0f);
  check_cuda(cudaMemcpy(field.magnitude_bound(), &largest, sizeof largest, cudaMemcpyHostToDevice));
}

/// Measures the rate of launch(in, out) on two fields that are swapped, for `seconds`, and the rate of copies
/// of the fields.
template <class Launch>
nlohmann::json measure(const KernelCase& what, const Stream& stream, const Index3& halo, double seconds,
                       Launch&& launch) {
  static DeviceMemory memory;
  Field a(what.domain.box(), halo, what.precision, memory),
      b(what.domain.box(), halo, what.precision, memory);
  fill_random(a);
  fill_random(b);
  Field *in = &a, *out = &b;
  const LaunchTime time = launch_time(stream, seconds, [&] {
    launch(*in, *out);
    std::swap(in, out);
  });
  const LaunchTime copy = launch_time(stream, seconds / 4, [&] {
    const Index3 begin = a.allocated().begin;
    check_cuda(cudaMemcpyAsync(b.bytes_at(begin), a.bytes_at(begin), a.bytes() - 64, cudaMemcpyDeviceToDevice,
                               stream));
  });
  const auto points = static_cast<double>(what.domain.box().points());
  const auto gstencil = [&](double launch_s) { return points * what.steps / launch_s / 1e9; };
  const double bytes = 2.0 * static_cast<double>(storage_bytes(what.precision));
  return {{"stencil", what.stencil},
          {"shape", what.domain.shape},
          {"steps", what.steps},
          {"precision", to_string(what.precision)},
          {"fuse", what.steps},
          {"seconds", time.boost_s},
          {"gstencil_per_s", gstencil(time.boost_s)},
          {"seconds_sustained", time.sustained_s},
          {"gstencil_per_s_sustained", gstencil(time.sustained_s)},
          {"bytes_per_point", bytes},
          {"roofline_fraction", copy.sustained_s / time.sustained_s},
          {"copy_bytes_per_s", points * bytes / copy.sustained_s}};
}

/// Runs the program: [--json FILE] [--seconds S] CASE... It writes one row per case, the result of
/// bench(case, seconds).
template <class Bench>
int bench_cases(int argc, char** argv, Bench&& bench) try {
  CLI::App app(
      "Rates of kernels on one GPU. Boost: 12 launches after a rest; sustained: launches back to back");
  std::string file, why;
  double seconds = 0.35;
  std::vector<std::string> cases;
  app.add_option("--json", file, "Write the results to this file");
  app.add_option("--seconds", seconds, "Seconds of launches back to back, after as many of warm-up")
      ->capture_default_str();
  app.add_option("CASE", cases, "STENCIL:PRECISION:SHAPE:STEPS[:...]")->required();
  CLI11_PARSE(app, argc, argv);
  if (device_count(&why) == 0) throw std::runtime_error(why);
  const DeviceInfo device = device_info(0);
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  const std::string command = CLI::detail::join(std::vector<std::string>(argv, argv + argc), " ");
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& text : cases) try {
      nlohmann::json row = bench(parse_case(text), seconds);
      std::printf("%-56s t=%2d  %8.1f boost %8.1f sustained GStencil/s  %3.0f%% of copy\n", text.c_str(),
                  row["steps"].get<int>(), row["gstencil_per_s"].get<double>(),
                  row["gstencil_per_s_sustained"].get<double>(),
                  100 * row["roofline_fraction"].get<double>());
      std::fflush(stdout);
      row.update({{"device", device.name},
                  {"date", date},
                  {"driver_cuda", device.driver_version},
                  {"cuda", device.runtime_version},
                  {"command", command}});
      rows.push_back(std::move(row));
      if (!file.empty())
        std::ofstream(file) << rows.dump(1) << "\n";  // after every row, so that a run that
                                                      // is cut short leaves its rows
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", text.c_str(), error.what());
    }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 5;
}

}  // namespace spsolve::cuda
