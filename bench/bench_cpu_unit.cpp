// SPDX-License-Identifier: Apache-2.0
//
// Compares the CPU unit with the bandwidth of the machine, in one run:
//   bench_cpu_unit --benchmark_format=json
// "points" are points x time steps per second. "of_stream" is the bandwidth of one read, one write and one
// write-allocate per point and launch, divided by that of STREAM triad (McCalpin 1995; counted with its own
// write-allocate), measured just before. Non-temporal stores save the write-allocate, so "of_stream" may
// exceed 1.
#include <benchmark/benchmark.h>

#include <chrono>

#include "bench/cpu_streams.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reference.hpp"

namespace spsolve {
namespace {

/// Returns the bytes per second of the triad of STREAM, the best of ten.
double best_of_triad() {
  StreamTriad triad;
  double best = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    const double bytes = triad.compute();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, bytes / seconds.count());
  }
  return best;
}

/// Benchmarks the CPU unit. The arguments are points per axis and steps per launch.
void advance(benchmark::State& state, const char* preset, int dimensions, Precision precision) {
  const std::int64_t n = state.range(0);
  const int steps = static_cast<int>(state.range(1));
  Domain domain{dimensions, {dimensions > 2 ? n : 1, dimensions > 1 ? n : 1, n}, {}};
  const Stencil stencil = make_preset(preset, dimensions, {1.0, 1.0, 1.0}, {});
  const CpuUnit unit(domain, stencil, precision, nullptr);
  const Index3 halo = steps * stencil.radius();
  Field in(domain.box(), halo, precision), out(domain.box(), halo, precision);
  const double bandwidth = best_of_triad();
  for (auto _ : state) {
    unit.advance(in, out, domain.box(), steps);
    std::swap(in, out);
  }
  const double points = static_cast<double>(domain.box().points()) * static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.counters["points"] = Counter(points * steps, Counter::kIsRate);
  state.counters["of_stream"] =
      Counter(points * 3 * static_cast<double>(storage_bytes(precision)) / bandwidth, Counter::kIsRate);
  state.counters["stream_GBps"] = bandwidth * 1e-9;
}

BENCHMARK_CAPTURE(advance, star3d1r_fp64, "star3d1r", 3, Precision::fp64)
    ->Args({256, 1})
    ->Args({256, 4})
    ->UseRealTime();
BENCHMARK_CAPTURE(advance, box3d1r_fp64, "box3d1r", 3, Precision::fp64)
    ->Args({256, 1})
    ->Args({256, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d2r_fp64, "star3d2r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d3r_fp64, "star3d3r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d4r_fp64, "star3d4r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d5r_fp64, "star3d5r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d6r_fp64, "star3d6r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d7r_fp64, "star3d7r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d8r_fp64, "star3d8r", 3, Precision::fp64)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d2r_fp32, "star3d2r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d3r_fp32, "star3d3r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d4r_fp32, "star3d4r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d5r_fp32, "star3d5r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d6r_fp32, "star3d6r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d7r_fp32, "star3d7r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d8r_fp32, "star3d8r", 3, Precision::fp32)->Args({256, 1})->UseRealTime();
BENCHMARK_CAPTURE(advance, star2d1r_fp64, "star2d1r", 2, Precision::fp64)
    ->Args({4096, 1})
    ->Args({4096, 4})
    ->Args({4096, 8})
    ->UseRealTime();
BENCHMARK_CAPTURE(advance, box2d3r_fp64, "box2d3r", 2, Precision::fp64)
    ->Args({4096, 1})
    ->Args({4096, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(advance, star1d1r_fp64, "1d1r", 1, Precision::fp64)
    ->Args({1 << 24, 1})
    ->Args({1 << 24, 8})
    ->UseRealTime();
BENCHMARK_CAPTURE(advance, star3d1r_fp32, "star3d1r", 3, Precision::fp32)
    ->Args({256, 1})
    ->Args({256, 4})
    ->UseRealTime();

/// Benchmarks the plain double loop that defines correct results, for comparison. The argument is points per
/// axis.
void reference(benchmark::State& state, const char* preset, int dimensions) {
  const std::int64_t n = state.range(0);
  const Domain domain{dimensions, {dimensions > 2 ? n : 1, dimensions > 1 ? n : 1, n}, {}};
  const Stencil stencil = make_preset(preset, dimensions, {1.0, 1.0, 1.0}, {});
  std::vector<double> u(static_cast<std::size_t>(domain.box().points()), 1.0);
  for (auto _ : state) u = reference_step(domain, stencil, u);
  const double points = static_cast<double>(u.size()) * static_cast<double>(state.iterations());
  state.counters["points"] = benchmark::Counter(points, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(reference, star3d1r_fp64, "star3d1r", 3)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(reference, box3d1r_fp64, "box3d1r", 3)->Arg(256)->UseRealTime();
BENCHMARK_CAPTURE(reference, star2d1r_fp64, "star2d1r", 2)->Arg(4096)->UseRealTime();

}  // namespace
}  // namespace spsolve

BENCHMARK_MAIN();
