// SPDX-License-Identifier: Apache-2.0
#include "app/setup/stored_plan.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/error.hpp"

namespace spsolve {

using Json = nlohmann::ordered_json;

Json json_of(const Candidate& candidate) {
  return {{"unit", to_string(candidate.unit)},
          {"layout", name_or(candidate.layout, "none")},
          {"fuse", candidate.fuse},
          {"precision", to_string(candidate.precision)},
          {"dropped", candidate.dropped},
          {"strided", candidate.strided},
          {"error_bound_per_step", candidate.error}};
}

Candidate candidate_of(const Json& json) {
  constexpr std::int64_t most_steps = 1 << 20;  // steps of a launch: far beyond any depth that pays
  const Json& fuse = json.at("fuse");
  if (!fuse.is_number_integer() || fuse < 1 || fuse > most_steps) throw std::out_of_range("fuse");
  Candidate candidate{Method(fuse.get<int>(), parse_unit_kind(json.value("unit", "scalar")).value(),
                             parse_layout(json.value("layout", "none")), json.value("dropped", 0.0))};
  candidate.strided = json.value("strided", false);
  if (candidate.unit != UnitKind::scalar && !candidate.layout) throw std::out_of_range("layout");
  candidate.precision = parse_precision(json.at("precision").get<std::string>()).value();
  candidate.error = json.value("error_bound_per_step", 0.0);
  return candidate;
}

StoredPlan parse_plan(const std::string& json) {
  try {
    const auto plan = Json::parse(json);
    StoredPlan kept{plan.value("device", ""), candidate_of(plan), {}, plan.value("equations", false)};
    if (plan.contains("dropped")) kept.dropped = kept.chosen.dropped;
    return kept;
  } catch (const std::exception&) {
    throw Error(Status::file_failure, fmt::format("the stored plan cannot be read: {}", json));
  }
}

std::string to_json(const Plan& plan) {
  Json json{{"device", plan.device}, {"equations", plan.of_equations}};
  json.update(json_of(plan.chosen));
  return json.dump();
}

}  // namespace spsolve
