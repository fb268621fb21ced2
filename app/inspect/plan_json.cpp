// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/plan_json.hpp"

#include <nlohmann/json.hpp>

#include "app/setup/planning.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

Json method_json(const Method& method, Precision precision) {
  return {{"precision", to_string(precision)},
          {"unit", to_string(method.unit)},
          {"layout", name_or(method.layout, "none")},
          {"fuse", method.fuse}};
}

/// Returns a candidate as JSON. Seconds are per point and step, with the events of the input. Their
/// parts are those of launches that no event cuts short.
Json candidate_json(const Candidate& candidate) {
  Json json = method_json(candidate, candidate.precision);
  json.update({{"terms", candidate.terms},
               {"gstencil_per_s", 1e-9 / candidate.seconds},
               {"seconds", candidate.seconds},
               {"seconds_of_parts",
                {{"memory", candidate.memory_seconds},
                 {"compute", candidate.compute_seconds},
                 {"shared", candidate.shared_seconds},
                 {"walls", candidate.wall_seconds},
                 {"launch", candidate.launch_seconds}}},
               {"bytes_per_step", candidate.bytes},
               {"flop_per_step", 2 * candidate.fma}});
  json.update(model_of(candidate));
  return json;
}

}  // namespace

std::string plan_json(const Setup& setup, const DeviceModel& device) {
  const Problem& problem = setup.problem;
  const Plan& plan = setup.plan;
  const auto& shape = problem.domain.shape;
  Json json{{"name", setup.config.name},
            {"shape", std::vector<std::int64_t>(shape.end() - problem.domain.dimensions, shape.end())},
            {"device",
             {{"name", device.name},
              {"origin", device.origin},
              {"kind", plan.device},
              {"B_bytes_per_s", ceilings_of(device).copy}}},
            {"reasons", plan.reasons},
            {"chosen", candidate_json(plan.chosen)},
            {"candidates", Json::array()},
            {"left_out", Json::array()}};
  for (const Candidate& candidate : plan.candidates) json["candidates"].push_back(candidate_json(candidate));
  for (const RejectedMethod& rejected : plan.rejected) {
    Json row = method_json(rejected.method, rejected.precision);
    row.update({{"obstacle", to_string(rejected.refusal.obstacle)}, {"why", rejected.refusal.why}});
    json["left_out"].push_back(row);
  }
  return json.dump(2) + "\n";
}

}  // namespace spsolve
