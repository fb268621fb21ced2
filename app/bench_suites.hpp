// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/bench_case.hpp"

namespace spsolve {

/// A named list of cases; `cases` is null where something else is measured.
struct BenchSuite {
  std::string_view name;
  std::string_view meaning;
  std::vector<BenchCase> (*cases)(const BenchRequest& request, bool cuda);
  bool as_asked = false;  // its cases are measured by the unit, in the precision, ... of the request
};
/// All suites; "ceilings" has no cases.
const std::vector<BenchSuite>& bench_suites();

/// The cases of a request: its suite, or the one case that it describes. Throws Error(invalid_input) where
/// there is no such suite or stencil, or the shape does not fit.
std::vector<BenchCase> cases_of(const BenchRequest& request, bool cuda);

}  // namespace spsolve
