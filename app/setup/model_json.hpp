// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "solver/plan/model.hpp"

namespace spsolve {

/// Returns the numbers that the model gives a candidate, by the names of paper 003 where it has them; C and M
/// are per point and launch. P and the ridge are null where no ceiling is known (systems of equations).
nlohmann::ordered_json model_of(const Candidate& candidate);

}  // namespace spsolve
