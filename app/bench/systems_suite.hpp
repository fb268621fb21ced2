// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/bench/bench_case.hpp"
#include "kernels/catalogue/systems.hpp"

namespace spsolve {

/// Returns a system of the catalogue on a grid between walls of a value, with fields and coefficients of
/// waves of several lengths. `shape` has the axes of the system, slowest first.
BenchCase system_case(const CatalogueSystem& system, const std::vector<std::int64_t>& shape, double wall,
                      Precision precision);

/// Returns every system of the catalogue in fp32, fp64 and fp16 between walls of the values 0 and 0.5, in 3D
/// on grids of two sizes, by every unit and layout and at every depth that a plan considers.
std::vector<BenchCase> systems_suite(const BenchRequest& request, bool cuda);

}  // namespace spsolve
