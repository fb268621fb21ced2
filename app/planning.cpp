// SPDX-License-Identifier: Apache-2.0
#include "app/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/atomic_file.hpp"
#include "io/read_problem.hpp"
#include "io/toml_document.hpp"
#include "io/toml_section.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

/// Launches end at the most frequent event, or at the last step.
Pace pace_of(const RunConfig& config) {
  Pace pace{config.time.steps, true};  // the last step has diagnostics
  for (const std::int64_t every : {config.output.every, config.checkpoint.every, config.diagnostics.every})
    if (every > 0 && every < pace.every) pace = {every, false};
  pace.last_alone = pace.every > 1 && (pace.last_alone || config.diagnostics.every == pace.every);
  return pace;
}

}  // namespace

PlanRequest plan_request(const RunConfig& config) {
  return {config.compute.unit, config.compute.layout, config.time.fuse, pace_of(config),
          config.compute.accuracy};
}

PlanRequest continue_plan(PlanRequest request, const DeviceModel& device, const std::string& plan_text) {
  try {
    const auto plan = nlohmann::json::parse(plan_text);
    const std::string unit = plan.value("unit", "scalar");
    const int fuse = plan.at("fuse").get<int>();
    if (fuse < 1) throw std::out_of_range("fuse");
    if (const auto precision = parse_precision(plan.value("precision", ""))) request.precision = *precision;
    const bool possible = unit == "scalar" || device.gpu || plan.value("device", "") == "cpu";
    if (!possible || (request.unit != "auto" && request.unit != unit)) return request;
    request.unit = unit;
    if (request.layout == "auto" && unit != "scalar") request.layout = plan.at("layout").get<std::string>();
    if (!request.fuse) request.fuse = fuse;
    return request;
  } catch (const std::exception&) {
    throw Error(Status::file_failure, fmt::format("the plan to go on with cannot be read: {}", plan_text));
  }
}

std::string to_json(const Plan& plan) {
  const Candidate& chosen = plan.chosen;
  return nlohmann::ordered_json{{"device", plan.device},
                                {"unit", chosen.unit},
                                {"layout", chosen.layout},
                                {"fuse", chosen.fuse},
                                {"precision", to_string(chosen.precision)},
                                {"error_bound_per_step", chosen.error}}
      .dump();
}

DeviceModel device_model(bool gpu, const std::optional<std::filesystem::path>& file) {
  if (!file) return gpu ? nominal_gpu() : nominal_cpu();
  if (!std::filesystem::is_regular_file(*file))
    throw Error(Status::invalid_input, fmt::format("--device-model {}: no such file", file->string()));
  const toml::table document = parse_toml(read_text(*file), file->string(), {});
  const TomlSection root(document, file->string());
  root.allow({"device"});
  const TomlSection section = required_section(root, "device");
  std::vector<std::string> keys{"name", "gpu"};
  for (const DeviceModelEntry& entry : device_model_entries()) keys.emplace_back(entry.key);
  section.allow(keys);
  section.require("gpu");
  DeviceModel model = *section.boolean("gpu") ? nominal_gpu() : nominal_cpu();
  model.name = section.text("name").value_or(file->stem().string());
  for (const DeviceModelEntry& entry : device_model_entries())
    if (const auto value = section.number(entry.key, 0.0)) model.*entry.value = *value;
  return model;
}

}  // namespace spsolve
