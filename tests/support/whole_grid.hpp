// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "kernels/unit.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// Makes a field of the whole grid with a halo for `steps` steps. The halo is omitted beside walls unless
/// `halo_beside_walls`, and along axes in `wraps`. All points outside the grid that a unit must fill itself
/// are NaN, so that reading them is noticed. With `first_column` the field is a block that starts at this
/// column, with others before it.
Field whole_grid(const RandomCase& problem, Precision precision, int steps, const std::vector<double>& values,
                 bool halo_beside_walls = true, const std::array<bool, 3>& wraps = {},
                 std::int64_t first_column = 0);

/// Returns the grid after `steps` steps from `values`, in one launch of a unit, region by region.
std::vector<double> advance_whole_grid(const RandomCase& problem, const Unit& unit, Precision precision,
                                       int steps, const std::vector<double>& values,
                                       const std::vector<Box>& regions);

/// Returns the grid after one launch of the CPU unit, with the source of the problem.
std::vector<double> advance_on_cpu(const RandomCase& problem, Precision precision, int steps,
                                   const std::vector<double>& values, const std::vector<Box>& regions);
std::vector<double> advance_on_cpu(const RandomCase& problem, Precision precision, int steps,
                                   const std::vector<double>& values);

}  // namespace spsolve::testing
