// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/bench/bench_case.hpp"

namespace spsolve {

/// A named list of cases; `cases` is null where something else is measured.
struct BenchSuite {
  std::string_view name;
  std::string_view meaning;
  std::vector<BenchCase> (*cases)(const BenchRequest& request, bool cuda);
};
/// All suites; "ceilings" has no cases.
const std::vector<BenchSuite>& bench_suites();

/// Has the plan do what the request asks for, whatever it promises where that is a layout.
void ask(PlanRequest& plan, const BenchRequest& request);

/// The cases of a request: the one that it describes, or those of its suite that are as it asks, by the unit
/// that it asks for where they leave it to the plan. Throws Error(invalid_input) where there is no such suite
/// or stencil, no case is so, or the shape does not fit.
std::vector<BenchCase> cases_of(const BenchRequest& request, bool cuda);

}  // namespace spsolve
