// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "app/bench/bench_case.hpp"
#include "solver/plan/method.hpp"

namespace spsolve {

/// Returns the case that a row of `spsolve bench --json` is about: a preset, a case of `--suite random`, or
/// an input file of the folder `inputs`.
BenchCase recorded_case(const nlohmann::json& row, const std::filesystem::path& inputs);

/// Returns the method by which the case of a row of `spsolve bench --json` was solved.
Method recorded_method(const nlohmann::json& row);

}  // namespace spsolve
