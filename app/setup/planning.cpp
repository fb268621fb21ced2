// SPDX-License-Identifier: Apache-2.0
#include "app/setup/planning.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "app/setup/calibration_file.hpp"
#include "app/setup/ceilings.hpp"
#include "app/setup/terminal.hpp"
#include "halo/collectively.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/toml_document.hpp"
#include "io/input/toml_section.hpp"
#include "io/text_file.hpp"
#include "kernels/error.hpp"
#include "solver/interval.hpp"
#include "solver/plan/kernel_family.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/runtime/device.hpp"
#endif

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

/// Launches end at the most frequent event, or at the last step.
EventPattern events_of(const RunConfig& config, const Problem& problem) {
  EventPattern events{config.time.steps, true};  // the last step has diagnostics
  for (const std::int64_t every : {config.output.every, config.checkpoint.every, config.diagnostics.every})
    if (every > 0 && every < events.every) events = {every, false};
  events.last_alone = events.every > 1 && (events.last_alone || config.diagnostics.every == events.every);
  const std::vector<Interval> records = record_intervals(config, problem);
  for (const Interval& interval : records)
    if (const std::int64_t every = interval.following(0); every < events.every) events = {every, false};
  const auto cut_by = [&](std::int64_t every, bool alone) {
    if (every > 0 && events.every > 1 && (every % events.every != 0 || (alone && !events.last_alone)))
      events.cuts += 1.0 / static_cast<double>(every);
  };
  cut_by(config.time.steps, true);
  cut_by(config.diagnostics.every, true);
  cut_by(config.output.every, false);
  cut_by(config.checkpoint.every, false);
  for (const Interval& interval : records) cut_by(interval.following(0), false);
  events.steps = config.time.steps;
  events.checkpoints = config.checkpoint.every;
  return events;
}

}  // namespace

Interval interval_of(const OutputStreamConfig& stream, double dt) {
  return {stream.every, stream.every_time.value_or(0.0), dt};
}

std::vector<Interval> record_intervals(const RunConfig& config, const Problem& problem) {
  std::vector<Interval> intervals;
  // Launches of equations record points after each of their steps.
  if (!problem.equations)
    for (const ProbesConfig& probes : config.probes) intervals.push_back({probes.every});
  for (const OutputStreamConfig& stream : config.outputs)
    intervals.push_back(interval_of(stream, config.time.dt));
  for (const ImagesConfig& images : config.images) intervals.push_back({images.every});
  return intervals;
}

PlanRequest plan_request(const RunConfig& config, const Problem& problem) {
  // Several steps of a stencil are one sweep, so no amounts can be added between them.
  const bool single = !config.point_sources.empty() && !problem.equations;
  if (single && config.time.fuse.value_or(1) > 1)
    throw Error(InputKey{"time", "fuse"},
                fmt::format(" = {}: point sources are added to this [stencil] after single steps, as on all "
                            "CPUs and in tf32; leave it out, or \"auto\"",
                            *config.time.fuse));
  return {config.compute.unit, config.compute.layout, single ? std::optional(1) : config.time.fuse,
          events_of(config, problem), config.compute.accuracy};
}

ContinuedRequest continue_plan(PlanRequest request, const Problem& problem, const DeviceModel& device,
                               const StoredPlan& plan) {
  const Candidate& kept = plan.chosen;
  const std::string what =
      fmt::format("{}, {} per launch on {}", describe(kept), counted(kept.fuse, "step"), plan.device);
  request.precision = kept.precision;
  if (request.accuracy)
    if (const double error = run_error(problem, kept, request.events); error > *request.accuracy)
      return {request,
              fmt::format("planned anew: by the plan so far ({}), {} err by up to {:.2e}, beyond "
                          "compute.accuracy = {:g}",
                          what, counted(steps_of(request.events), "step"), error, *request.accuracy)};
  const bool other_layout =
      request.layout && layout_here(request.layout, device) != layout_here(kept.layout, device);
  if ((request.unit && request.unit != kept.unit) || other_layout) return {request};
  if (kept.unit != UnitKind::scalar && !device.gpu && plan.device != "cpu" && !request.unit)
    return {request, fmt::format("planned anew: the plan so far ({}) needs tensor cores; compute.unit = "
                                 "\"{}\" would emulate them, slowly. Values stay within the promise of {}",
                                 what, to_string(kept.unit), to_string(kept.precision))};
  if (kept.strided && !device.gpu && !kept.layout && !request.unit)
    return {request, fmt::format("planned anew: the plan so far ({}) needs a GPU. Values stay within the "
                                 "promise of {}",
                                 what, to_string(kept.precision))};
  request.unit = kept.unit;
  request.layout = kept.layout;
  request.strided = kept.strided;
  if (!request.fuse) request.fuse = kept.fuse;
  if (*request.fuse != kept.fuse) return {request};
  request.unpromised = true;
  request.dropped = plan.dropped;
  return {request};
}

Json model_of(const Candidate& candidate) {
  Json json{{"C_flop", 2 * candidate.fma * candidate.fuse},
            {"M_bytes", candidate.bytes * candidate.fuse},
            {"I_flop_per_byte", candidate.intensity()},
            {"P_flop_per_s", nullptr},
            {"I_ridge", nullptr},
            {"alpha", candidate.redundancy},
            {"S", candidate.sparsity},
            {"bound", candidate.bound},
            {"scenario", candidate.spot.scenario},
            {"speedup_roofline", candidate.spot.speedup},
            {"speedup_model", candidate.spot.modelled_speedup},
            {"verdict", to_string(candidate.spot.verdict())},
            {"error_bound_per_step", candidate.error}};
  if (candidate.peak > 0) {
    json["P_flop_per_s"] = candidate.peak;
    json["I_ridge"] = candidate.ridge;
  }
  return json;
}

std::vector<Candidate> broadcast_candidates(const Communicator& communicator,
                                            const std::vector<Candidate>& candidates) {
  Json list = Json::array();
  for (const Candidate& candidate : candidates)
    list.push_back({{"method", json_of(candidate)}, {"seconds", candidate.seconds}});
  const Json of_root = Json::parse(communicator.broadcast(list.dump()));
  if (communicator.root()) return candidates;
  std::vector<Candidate> agreed;
  for (const Json& candidate : of_root) {
    agreed.push_back(candidate_of(candidate.at("method")));
    agreed.back().seconds = candidate.at("seconds").get<double>();
  }
  return agreed;
}

Plan agreed_plan(const Communicator& communicator, const Problem& problem, const DeviceModel& device,
                 const PlanRequest& request) {
  Plan plan{device.gpu ? "cuda" : "cpu"};
  on_root(communicator, [&] { plan = make_plan(problem, device, request); });
  plan.of_equations = problem.equations != nullptr;
  plan.chosen = broadcast_candidates(communicator, {plan.chosen}).front();
  return plan;
}

DeviceModel device_model(const DeviceChoice& device) {
  DeviceModel model = device.cuda ? nominal_gpu() : nominal_cpu();
  const auto ceilings = remembered_ceilings(device);
#ifdef SPSOLVE_CUDA
  if (device.cuda) {
    const cuda::DeviceInfo info = cuda::device_info(device.device);
    model.name = info.name;
    if (const auto calibration = remembered_calibration(info.name)) {
      calibrate(model, calibration);
      model.origin = "calibrated by spsolve bench --suite calibrate";
    } else if (!ceilings && info.name.find("H200") == std::string::npos) {
      model = scaled_model(
          model, DriverRates{info.memory_bandwidth, info.clock, static_cast<double>(info.multiprocessors),
                             info.compute_capability});
      model.measured = false;
      model.origin = "nominal, in proportion to what the driver says of memory and clocks";
    }
    model.multiprocessors = info.multiprocessors;
    model.compute_capability = info.compute_capability;
    model.shared_bytes_per_block = static_cast<double>(info.shared_bytes_per_block);
  }
#endif
  if (ceilings && !model.calibration) model = scaled_model(model, *ceilings);
  return model;
}

DeviceModel device_model(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!is_stream(file) && !std::filesystem::is_regular_file(file, unreadable))
    throw Error(Status::invalid_input, fmt::format("--device-model {}: no such file", file.string()));
  const toml::table document = parse_toml(read_text(file), file.string(), {});
  const TomlSection root(document, file.string());
  root.allow({"device"});
  const TomlSection section = required_section(root, "device");
  constexpr double most = std::numeric_limits<int>::max();
  std::vector<std::string> keys{"name", "gpu"};
  for (const DeviceModelEntry& entry : device_model_entries()) keys.emplace_back(entry.key);
  section.allow(keys);
  section.require("gpu");
  DeviceModel model = *section.boolean("gpu") ? nominal_gpu() : nominal_cpu();
  model.name = section.text("name").value_or(file.stem().string());
  model.origin = "from " + file.string();
  for (const auto& [key, value, least] : device_model_entries())
    if (least == 0)
      model.*value = section.number(key, positive).value_or(model.*value);
    else if (const auto given = section.integer(key, {static_cast<double>(least), most}))
      model.*value = static_cast<double>(*given);
  if (section.number("node_latency", positive) || section.number("node_bandwidth", positive))
    model.node_exchange.clear();  // measured on other devices
  return model;
}

}  // namespace spsolve
