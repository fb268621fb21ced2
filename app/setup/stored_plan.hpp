// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Holds the part of a plan that checkpoints and the tuning cache keep.
struct StoredPlan {
  std::string device;             // the device that it was made for: cpu, cuda
  Candidate chosen;               // method, precision and error bound; the numbers of the model are not kept
  std::optional<double> dropped;  // Method::dropped; nothing in checkpoints of the first versions
  bool of_equations = false;      // Plan::of_equations; false in checkpoints of former versions
};

/// Returns a plan from its JSON text. Throws Error(file_failure) if it cannot be read.
StoredPlan parse_plan(const std::string& json);
/// Returns the part of a plan that a run needs to continue, as JSON text.
std::string to_json(const Plan& plan);

/// Returns what checkpoints and the tuning cache keep of a candidate.
nlohmann::ordered_json json_of(const Candidate& candidate);
/// Returns a candidate that json_of() has written. Throws std::exception where it is no candidate.
Candidate candidate_of(const nlohmann::ordered_json& json);

}  // namespace spsolve
