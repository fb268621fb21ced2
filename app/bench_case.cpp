// SPDX-License-Identifier: Apache-2.0
#include "app/bench_case.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/bench_errors.hpp"
#include "app/clock.hpp"
#include "app/planning.hpp"
#include "app/tune.hpp"
#include "kernels/presets.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

constexpr int repeats = 7;

/// Seconds of the parts of a launch on this rank, since `before`.
Json parts_of_launch(const Timings& before, const Timings& after, std::int64_t launches) {
  const auto mean = [&](double Timings::*part) {
    return (after.*part - before.*part) / static_cast<double>(launches);
  };
  return {{"packing", mean(&Timings::packing)},     {"travel", mean(&Timings::travel)},
          {"unpacking", mean(&Timings::unpacking)}, {"interior", mean(&Timings::interior)},
          {"edges", mean(&Timings::edges)},         {"exchange_not_hidden", mean(&Timings::exchange)},
          {"compute", mean(&Timings::compute)}};
}

/// The numbers of the model, by the names of paper 003 where it has them: per point and launch.
Json model_of(const Candidate& candidate) {
  return {{"C_flop", 2 * candidate.fma * candidate.fuse},
          {"M_bytes", candidate.bytes * candidate.fuse},
          {"I_flop_per_byte", candidate.intensity()},
          {"alpha", candidate.redundancy},
          {"S", candidate.sparsity},
          {"bound", candidate.bound},
          {"scenario", candidate.scenario},
          {"in_sweet_spot", candidate.in_sweet_spot},
          {"error_bound_per_step", candidate.error}};
}

}  // namespace

Problem BenchCase::problem() const {
  const int dimensions = preset_dimensions(stencil).value();
  return {{dimensions, shape, {}}, make_preset(stencil, dimensions, {1, 1, 1}, {}), precision, false};
}

Json measure(const Communicator& communicator, const BenchCase& what, const BenchSetting& setting,
             const Ceilings& ceilings, const DeviceChoice& device) {
  const Problem problem = what.problem();
  const DeviceModel model = device_model(device.cuda, {});
  Plan plan = make_plan(problem, model, what.plan);
  if (setting.tune)
    plan = make_plan(problem, model,
                     continue_plan(what.plan, model,
                                   tuned_plan(communicator, problem, what.plan, plan, device,
                                              setting.parallel, Terminal(communicator, false))));
  const Candidate& chosen = plan.chosen;
  const int fuse = chosen.fuse;
  const Decomposition decomposition(
      what.shape, least_surface_rank_grid(what.shape, communicator.size(), fuse * problem.stencil.radius(),
                                          face_cost(device)));
  const Machine machine = make_machine(communicator, device, setting.parallel);
  Block block(communicator, problem, decomposition, chosen, *machine.backend);

  block.set_state(set_benchmark_data);
  constexpr int checked_launches = 2;
  for (int i = 0; i < checked_launches; ++i) block.launch(fuse);
  const Errors errors = measure_errors(communicator, problem, block.state(), checked_launches * fuse);

  const auto timed_run = [&](std::int64_t launches) {
    communicator.barrier();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < launches; ++i) block.launch(fuse);
    machine.backend->synchronize();
    return communicator.all_reduce(seconds_since(begin), MPI_MAX);
  };
  const double one = timed_run(2) / 2;
  const std::int64_t launches = setting.steps > 0
                                    ? (setting.steps + fuse - 1) / fuse
                                    : std::max<std::int64_t>(1, std::llround(setting.seconds / one));
  const Timings before = block.timings();
  std::vector<double> runs;
  for (int repeat = 0; repeat < repeats; ++repeat) runs.push_back(timed_run(launches));
  const Json parts = parts_of_launch(before, block.timings(), repeats * launches);
  std::sort(runs.begin(), runs.end());
  const double seconds = runs[repeats / 2];

  const std::int64_t steps = launches * fuse;
  const double rate = static_cast<double>(volume(what.shape)) * static_cast<double>(steps) / seconds;
  const double per_device = rate / communicator.size();
  const double copy = ceilings.find("copy")->sustained;
  const Ceiling* fma = ceilings.find(what.precision == Precision::fp64 ? "fma fp64" : "fma fp32");
  const int dimensions = problem.domain.dimensions;
  return {{"stencil", what.stencil},
          {"shape", std::vector<std::int64_t>(what.shape.end() - dimensions, what.shape.end())},
          {"taps", problem.stencil.taps().size()},
          {"steps", steps},
          {"precision", to_string(what.precision)},
          {"unit", chosen.unit},
          {"layout", chosen.layout},
          {"fuse", fuse},
          {"device", device.of_rank},
          {"transport", machine.transport_name},
          {"graphs", machine.backend->transport().enqueues_only() && setting.graphs},
          {"ranks", communicator.size()},
          {"rank_grid", decomposition.rank_grid()},
          {"threads_per_rank", omp_get_max_threads()},
          {"seconds", seconds},
          {"seconds_per_launch_of_rank_0", parts},
          {"seconds_least", runs.front()},
          {"gstencil_per_s", rate * 1e-9},
          {"bytes_per_point", chosen.bytes * fuse},
          {"roofline_fraction", per_device * chosen.bytes / copy},
          {"compute_fraction",
           2 * per_device * static_cast<double>(problem.stencil.taps().size()) / fma->sustained},
          {"copy_bandwidth_gb_per_s", copy * communicator.size() * 1e-9},
          {"fma_ceiling_gflop_per_s", fma->sustained * communicator.size() * 1e-9},
          {"predicted_gstencil_per_s", 1e-9 / chosen.seconds},
          {"model", model_of(chosen)},
          {"error_l2", errors.l2},
          {"error_max", errors.max},
          {"error_steps", checked_launches * fuse}};
}

}  // namespace spsolve
