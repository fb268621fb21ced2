// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/bench/bench_case.hpp"
#include "kernels/catalogue/systems.hpp"

namespace spsolve {

/// Returns a system of the catalogue on a grid between walls of value 0, with fields and coefficients of
/// waves of several lengths. `shape` has the axes of the system, slowest first.
BenchCase system_case(const CatalogueSystem& system, const std::vector<std::int64_t>& shape,
                      Precision precision);

/// Returns every system of the catalogue in fp32 and fp64, and waves of constant speed in fp16 too, by every
/// unit and layout that the plan considers: in single steps and at its best depth.
std::vector<BenchCase> systems_suite(const BenchRequest& request, bool cuda);

}  // namespace spsolve
