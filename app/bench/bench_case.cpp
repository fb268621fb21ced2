// SPDX-License-Identifier: Apache-2.0
#include "app/bench/bench_case.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/setup/bench_errors.hpp"
#include "app/setup/clock.hpp"
#include "app/setup/distribution.hpp"
#include "app/setup/planning.hpp"
#include "app/values/fill_block.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/rounding.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

constexpr int repeats = 7, max_attempts = 3;
constexpr double undisturbed = 1.05;  // the median of runs over the shortest
// With this many launches between events, or more, launches that events cut short are left out.
constexpr int rare = 100;

/// Returns the seconds of the parts of a launch on this rank, since `before`.
Json parts_of_launch(const Timings& before, const Timings& after, std::int64_t launches) {
  const auto mean = [&](double Timings::*part) {
    return (after.*part - before.*part) / static_cast<double>(launches);
  };
  return {{"packing", mean(&Timings::packing)},     {"travel", mean(&Timings::travel)},
          {"unpacking", mean(&Timings::unpacking)}, {"interior", mean(&Timings::interior)},
          {"edges", mean(&Timings::edges)},         {"exchange_not_hidden", mean(&Timings::exchange)},
          {"compute", mean(&Timings::compute)}};
}

/// Holds what is measured, ready to run.
struct Bench {
  Problem problem;  // in the precision of the candidate
  int fuse;
  EventPattern events;
  Machine machine;
  Distribution distribution;
  Block block;

  Bench(const Communicator& communicator, const BenchCase& what, const Candidate& candidate,
        const BenchSetting& setting, const DeviceChoice& device)
      : problem(in_precision(what.problem, candidate.precision)),
        fuse(candidate.fuse),
        events(what.plan.events.every > std::int64_t{rare} * fuse ? EventPattern{} : what.plan.events),
        machine(make_machine(communicator, device, setting.parallel)),
        distribution(distribute_within_memory(communicator, setting.parallel, problem, candidate, device)),
        block(communicator, problem, distribution.decomposition, candidate, *machine.backend,
              distribution.exchange_every) {}

  static Problem in_precision(Problem problem, Precision precision) {
    problem.precision = precision;
    return problem;
  }

  /// Returns the steps after which launches repeat themselves.
  std::int64_t period() const { return events.every > 0 ? events.every : fuse; }

  /// Makes the launches of a period, as evolve() ends them before events, and returns their number.
  int run_period() {
    int launches = 0;
    const auto launch = [&](std::int64_t steps) {
      block.launch(static_cast<int>(steps));
      ++launches;
    };
    const bool last_alone = events.every > 0 && events.last_alone;
    for (std::int64_t left = period() - last_alone, steps = 0; left > 0; left -= steps) {
      // Equations take `fuse` steps, or one.
      steps = left >= fuse ? fuse : problem.equations ? 1 : left;
      launch(steps);
    }
    if (last_alone) launch(1);
    return launches;
  }
};

/// Sets what a block starts from: for systems of equations, which may be unstable from other values, the
/// values of the input; else data that look random.
void fill(const Communicator& communicator, const BenchCase& what, const Problem& problem, Block& block) {
  if (problem.equations)
    return fill_block(communicator, *what.input, problem, {}, block, [](const auto&, const auto&) {});
  if (problem.has_source) block.set_source(set_benchmark_data);
  block.set_state(set_benchmark_data);
}

/// Counts the multiply-adds of a step at a point.
std::size_t taps_of(const Problem& problem) {
  if (!problem.equations) return problem.stencil.taps().size();
  std::size_t taps = 0;
  for (const CanonicalNode& node : problem.equations->canonical.nodes)
    for (const ChainLink& link : node.links) taps += link.stencil.taps().size();
  return taps;
}

/// Launches from the data of the benchmark, and returns the error of the result.
Json errors_of(const Communicator& communicator, Bench& bench, bool measured) {
  constexpr int checked_launches = 2;
  const int steps = checked_launches * bench.fuse;
  for (int i = 0; i < checked_launches; ++i) bench.block.launch(bench.fuse);
  Json errors{{"error_l2", nullptr}, {"error_max", nullptr}, {"error_steps", steps}};
  if (!measured || bench.problem.equations) return errors;
  const Errors found = measure_errors(communicator, bench.problem, bench.block.state(), steps);
  errors["error_l2"] = found.l2;
  errors["error_max"] = found.max;
  return errors;
}

struct Timed {
  std::int64_t steps;     // steps of one run
  double seconds, least;  // on the slowest rank: the median of the runs, and the shortest
  Json parts;             // seconds of the parts of a launch
};

Timed time_runs(const Communicator& communicator, Bench& bench, const BenchSetting& setting) {
  const auto timed_run = [&](std::int64_t periods) {
    communicator.barrier();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < periods; ++i) bench.run_period();
    bench.machine.backend->synchronize();
    return communicator.all_reduce(seconds_since(begin), MPI_MAX);
  };
  const int launches_per_period = bench.run_period();
  timed_run(1);  // captures the launches that write the second of the two fields
  const double one = std::min(timed_run(2), timed_run(2)) / 2;
  const std::int64_t periods = setting.steps > 0
                                   ? ceil_div<std::int64_t>(setting.steps, bench.period())
                                   : std::max<std::int64_t>(1, std::llround(setting.seconds / one));
  // Other work on the hosts may hold up most of the runs, by half of their time and more.
  Timed timed{periods * bench.period(), std::numeric_limits<double>::infinity(), 0, {}};
  for (int attempt = 0; attempt < max_attempts && timed.seconds > undisturbed * timed.least; ++attempt) {
    const Timings before = bench.block.timings();
    std::vector<double> runs;
    for (int repeat = 0; repeat < repeats; ++repeat) runs.push_back(timed_run(periods));
    std::sort(runs.begin(), runs.end());
    if (const double median = runs[repeats / 2]; median < timed.seconds)
      timed = {timed.steps, median, runs.front(),
               parts_of_launch(before, bench.block.timings(), repeats * periods * launches_per_period)};
  }
  return timed;
}

}  // namespace

BenchCase preset_case(const std::string& stencil, const Index3& shape, Precision precision,
                      const PlanRequest& plan, BoundaryKind boundary, bool source) {
  const int dimensions = preset_dimensions(stencil).value();
  Domain domain{dimensions, shape, {}};
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    for (Face& face : domain.faces[axis]) face.kind = boundary;
  return {stencil, {domain, make_preset(stencil, dimensions, {1, 1, 1}, {}), precision, source}, plan};
}

void compile_kernels(const Communicator& communicator, const BenchCase& what, const Candidate& candidate,
                     const BenchSetting& setting, const DeviceChoice& device) {
  Bench bench(communicator, what, candidate, setting, device);
  fill(communicator, what, bench.problem, bench.block);
  bench.run_period();
  bench.machine.backend->synchronize();
}

Json measure(const Communicator& communicator, const BenchCase& what, const Candidate& candidate,
             const BenchSetting& setting, const Ceilings& ceilings, const DeviceChoice& device) {
  Bench bench(communicator, what, candidate, setting, device);
  Block& block = bench.block;
  const Problem& problem = bench.problem;
  fill(communicator, what, problem, block);
  const Json errors = errors_of(communicator, bench, setting.errors);
  const Timed timed = time_runs(communicator, bench, setting);

  const Domain& domain = problem.domain;
  const double rate =
      static_cast<double>(volume(domain.shape)) * static_cast<double>(timed.steps) / timed.seconds;
  const double per_device = rate / communicator.size();
  const double copy = ceilings.find("copy")->sustained;
  const Ceiling* fma = ceilings.find(problem.precision == Precision::fp64 ? "fma fp64" : "fma fp32");
  std::vector<std::string_view> boundaries;
  std::vector<double> wall_values;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    for (const Face& face : domain.faces[axis]) {
      boundaries.push_back(to_string(face.kind));
      wall_values.push_back(face.value);
    }
  Json row{{"stencil", what.stencil},
           {"shape", std::vector<std::int64_t>(domain.shape.end() - domain.dimensions, domain.shape.end())},
           {"boundary", boundaries},
           {"wall_values", wall_values},
           {"taps", taps_of(problem)},
           {"source", problem.has_source},
           {"steps", timed.steps},
           {"steps_between_events", bench.events.every},
           {"precision", to_string(problem.precision)},
           {"unit", to_string(candidate.unit)},
           {"layout", name_or(candidate.layout, "none")},
           {"fuse", bench.fuse},
           {"strided", candidate.strided},
           {"device", device.of_rank},
           {"transport", bench.machine.transport_name},
           {"graphs", bench.machine.backend->transport().enqueues_only() && setting.graphs},
           {"ranks", communicator.size()},
           {"rank_grid", bench.distribution.decomposition.rank_grid()},
           {"exchange_every", bench.distribution.exchange_every},
           {"threads_per_rank", omp_get_max_threads()},
           {"seconds", timed.seconds},
           {"seconds_per_launch_of_rank_0", timed.parts},
           {"seconds_least", timed.least},
           {"gstencil_per_s", rate * 1e-9},
           {"bytes_per_point", candidate.bytes * bench.fuse},
           {"roofline_fraction", per_device * candidate.bytes / copy},
           {"compute_fraction", 2 * per_device * static_cast<double>(taps_of(problem)) / fma->sustained},
           {"copy_bandwidth_gb_per_s", copy * communicator.size() * 1e-9},
           {"fma_ceiling_gflop_per_s", fma->sustained * communicator.size() * 1e-9},
           {"predicted_gstencil_per_s", 1e-9 / candidate.seconds},
           {"model", model_of(candidate)}};
  row.update(errors);
  return row;
}

}  // namespace spsolve
