// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/bench/bench_case.hpp"

namespace spsolve {

/// Names a list of cases; `cases` is null if the suite measures something else.
struct BenchSuite {
  std::string_view name;
  std::string_view meaning;
  std::vector<BenchCase> (*cases)(const BenchRequest& request, bool cuda);
};
/// Returns all suites; "ceilings" and "gemm" have no cases.
const std::vector<BenchSuite>& bench_suites();

/// Returns the model that the cases of suites are chosen by, whatever the device at hand.
DeviceModel nominal(bool cuda);

/// Returns the units and layouts that the plan considers for a case, each at its best depth, the fastest
/// first.
std::vector<BenchCase> with_every_method(const BenchCase& what, bool cuda);

/// Returns true if a unit has a kernel for a case as it is asked for.
bool has_plan(const BenchCase& what, bool cuda);

/// Copies what a benchmark asks for to the request of a plan. A layout is then measured even if it does not
/// keep the promise of the precision.
void ask(PlanRequest& plan, const BenchRequest& request);

/// Returns the cases of a request: the one that the request describes, or those of its suite that match it.
/// Cases that leave the unit to the plan run on the unit that the request names. Throws Error(invalid_input)
/// if there is no suite or stencil of that name, no case matches, or the shape does not fit.
std::vector<BenchCase> cases_of(const BenchRequest& request, bool cuda);

}  // namespace spsolve
