// SPDX-License-Identifier: Apache-2.0
//
// Compares the CPU unit of systems of equations with the bandwidth of the machine, in one run:
//   bench_systems_cpu [--seconds S] [--shape Z Y X] [--processor-time] [CASE...]
// It prints per case and precision G points x steps per second and shares of three bandwidths. A share is the
// bytes per point and step that must move (SystemFacts::bytes_per_point) over
// - the rate of a copy of large arrays,
// - that of streams: all arrays that a step reads are read once, and those that it writes are written, past
//   the caches,
// - that of the triad of STREAM, counted with its write-allocate, as in bench_cpu_unit.
// Rates are the best and the median of repeats. Bandwidths and steps take turns, so that all see the same
// machine. Where other programs share the cores, --processor-time with OMP_NUM_THREADS=1 leaves out the time
// that they take.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "bench/cpu_streams.hpp"
#include "io/catalogue_step.hpp"
#include "kernels/catalogue/systems.hpp"
#include "kernels/cpu/system_unit.hpp"
#include "kernels/operator/statement_boxes.hpp"

namespace spsolve {
namespace {

clockid_t measured_clock = CLOCK_MONOTONIC;

template <class Call>
double seconds_of(Call&& call) {
  const auto now = [] {
    timespec time{};
    clock_gettime(measured_clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  call();
  return now() - begin;
}

/// Copies large arrays. Lines that memcpy does not write past the caches are also read, but not counted.
class CopyBenchmark {
 public:
  CopyBenchmark() : from_(bytes, std::byte{1}), to_(bytes) {}
  /// Copies once. Returns the bytes that are read and written.
  double move() {
#pragma omp parallel
    {
      const std::size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
      const std::size_t begin = bytes / threads * thread;
      std::memcpy(to_.data() + begin, from_.data() + begin, bytes / threads);
    }
    return 2.0 * bytes;
  }

 private:
  static constexpr std::size_t bytes = std::size_t{192} << 20;
  std::vector<std::byte> from_, to_;
};

void fill(Field& field, std::mt19937& random) {
  std::uniform_real_distribution<float> value(0.1f, 0.3f);
  std::vector<float> values(4093);
  for (float& v : values) v = value(random);
  with_storage(field.precision(), [&]<class Storage>() {
    const Box box = field.allocated();
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Index3 p = row_begin(box, row);
      Storage* const points = field.at<Storage>(p);
      for (std::int64_t x = 0; x < box.extent()[x_axis]; ++x)
        points[x] = to_storage<Storage>(values[(row * 31 + x) % 4093]);
    }
  });
}

/// Holds samples of one way to move memory.
struct Bandwidth {
  const char* name;
  std::vector<double> bytes_per_second = {};
};

/// Prints the rates of a system from the seconds per step of all samples, and its shares of bandwidths.
void print_rates(const CatalogueSystem& what, Precision precision, const Domain& domain, int fuse,
                 const SystemFacts& facts, std::vector<double> steps, std::vector<Bandwidth> bandwidths) {
  std::ranges::sort(steps);
  const int bytes = facts.bytes_per_point(static_cast<int>(storage_bytes(precision)),
                                          static_cast<int>(storage_bytes(sum_precision(precision))));
  const double points = static_cast<double>(domain.box().points());
  const double best = points / steps.front() / 1e9, median = points / steps[steps.size() / 2] / 1e9;
  const auto [z, y, x] = domain.shape;
  std::printf("%-18s %s %ldx%ldx%ld fuse %d %3d B: best %6.3f, median %6.3f G/s", what.name.c_str(),
              std::string(to_string(precision)).c_str(), static_cast<long>(z), static_cast<long>(y),
              static_cast<long>(x), fuse, bytes, best, median);
  for (auto& [name, samples] : bandwidths) {
    std::ranges::sort(samples);
    const double most = samples.back() / 1e9, middle = samples[samples.size() / 2] / 1e9;
    std::printf("; %s %5.1f (%3.0f%%), %5.1f GB/s (%3.0f%%)", name, most, 100 * best * bytes / most, middle,
                100 * median * bytes / middle);
  }
  std::puts("");
  std::fflush(stdout);
}

void measure(const CatalogueSystem& what, Precision precision, const Index3& shape, int fuse, double seconds,
             CopyBenchmark& copy, StreamTriad& triad) {
  constexpr double dt = 0.03;
  const Canonical canonical = canonical_of(what, dt);
  const SystemFacts facts = facts_of(canonical);
  const Domain domain{3, shape, {}};
  const std::vector<Domain> domains(what.fields.size(), domain);
  if (fuse > 1 && CpuSystemUnit::why_single_steps(facts, domains)) return;
  const Index3 halo = fuse * halo_radius(facts, domain);
  const auto make_fields = [&](std::size_t count, Precision of) {
    std::vector<Field> fields;
    std::mt19937 random(1);
    for (std::size_t i = 0; i < count; ++i) {
      fields.emplace_back(domain.box(), halo, of);
      fill(fields.back(), random);
    }
    return fields;
  };
  const std::size_t count = what.fields.size();
  std::vector<Field> now = make_fields(count, precision), previous = make_fields(count, precision),
                     next = make_fields(count, precision), next_previous = make_fields(count, precision),
                     coefficients = make_fields(canonical.coefficients.size(), sum_precision(precision));
  std::vector<const Field*> given;
  for (const Field& field : coefficients) given.push_back(&field);
  const CpuSystemUnit unit(canonical, domains, dt, precision, given);
  const auto launch = [&] {
    std::vector<Field*> in, out;
    for (Field& field : now) in.push_back(&field);
    for (Field& field : next) out.push_back(&field);
    for (std::size_t i = 0; i < count; ++i)
      if (!facts.reach_previous[i].empty()) {
        in.push_back(&previous[i]);
        out.push_back(&next_previous[i]);
      }
    unit.advance(State(in), State(out), domain.box(), fuse);
    if (fuse > 1)
      std::swap(previous, next_previous);
    else
      std::swap(previous, now);  // without a second time level `previous` is not read
    std::swap(now, next);
  };
  launch();
  // A sample of a small grid takes many steps, so that it does not measure caches that a copy has emptied.
  const int repeats = static_cast<int>(std::clamp(0.02 / seconds_of(launch), 1.0, 1e5));
  std::vector<Field> streamed = make_fields(static_cast<std::size_t>(facts.fields_written), precision);
  const auto streamed_array = [&](const Field& field) {
    const Index3 first = domain.box().begin, last{shape[0] - 1, shape[1] - 1, 0};  // columns that are aligned
    std::byte* const begin = const_cast<std::byte*>(field.bytes_at(first));
    return StreamedArray{reinterpret_cast<double*>(begin),
                         static_cast<std::size_t>(field.bytes_at(last) - begin),
                         storage_bytes(field.precision()) / storage_bytes(precision)};
  };
  std::vector<StreamedArray> read, written;
  for (std::size_t i = 0; i < count; ++i) {
    if (!facts.reach_now[i].empty()) read.push_back(streamed_array(now[i]));
    if (!facts.reach_previous[i].empty()) read.push_back(streamed_array(previous[i]));
  }
  for (const Field& field : coefficients) read.push_back(streamed_array(field));
  for (const Field& field : streamed) written.push_back(streamed_array(field));
  const auto rate_of = [](auto&& move) {
    double bytes = 0.0;
    const double time = seconds_of([&] { bytes = move(); });
    return bytes / time;
  };
  std::vector<double> steps;
  std::vector<Bandwidth> bandwidths{{"copy"}, {"streams"}, {"triad"}};
  for (double passed = 0; passed < seconds || steps.size() < 5;) {
    bandwidths[0].bytes_per_second.push_back(rate_of([&] { return copy.move(); }));
    bandwidths[1].bytes_per_second.push_back(rate_of([&] { return stream(read, written); }));
    bandwidths[2].bytes_per_second.push_back(rate_of([&] { return triad.compute(); }));
    const double sample = seconds_of([&] {
      for (int i = 0; i < repeats; ++i) launch();
    });
    steps.push_back(sample / repeats / fuse);
    passed += sample;
  }
  print_rates(what, precision, domain, fuse, facts, std::move(steps), std::move(bandwidths));
}

}  // namespace
}  // namespace spsolve

int main(int argc, char** argv) try {
  CLI::App app("Rates of systems of equations on CPU cores");
  double seconds = 2.0;
  std::vector<std::int64_t> shape{256, 256, 256};
  std::vector<std::string> wanted, precisions{"fp32", "fp64"};
  std::vector<int> depths{1};
  app.add_option("--seconds", seconds, "Time of the steps of a case")->capture_default_str();
  app.add_option("--shape", shape, "Points along z, y and x")->expected(3)->capture_default_str();
  app.add_option("--precision", precisions, "Precisions")
      ->check(CLI::IsMember({"fp64", "fp32", "bf16", "fp16"}))
      ->capture_default_str();
  app.add_option("--fuse", depths, "Steps per launch: one number or several")->capture_default_str();
  app.add_flag_callback(
      "--processor-time", [] { spsolve::measured_clock = CLOCK_PROCESS_CPUTIME_ID; },
      "Count the time that the process computes, of one thread");
  app.add_option("CASE", wanted, "Names of cases; default all");
  CLI11_PARSE(app, argc, argv);
  spsolve::CopyBenchmark copy;
  spsolve::StreamTriad triad;
  for (const spsolve::CatalogueSystem& what : spsolve::catalogue_systems())
    if (what.dimensions == 3 && (wanted.empty() || std::ranges::find(wanted, what.name) != wanted.end()))
      for (const std::string& precision : precisions)
        for (const int fuse : depths)
          spsolve::measure(what, spsolve::parse_precision(precision).value(), {shape[0], shape[1], shape[2]},
                           fuse, seconds, copy, triad);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 5;
}
