// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "halo/communicator.hpp"
#include "kernels/field.hpp"

namespace spsolve {

/// Numbers about the whole grid at one step, in double. The sums are exact up to a rounding far below that of
/// a plain sum, and in whatever order: any number of ranks gives the same bits.
struct Diagnostics {
  double min = 0, max = 0;
  double mean = 0;
  double l2 = 0;         // sqrt(sum u^2)
  double change_l2 = 0;  // sqrt(sum (u - u one step before)^2); 0 before the first step
};

/// The first point, in C order of the grid, whose value is NaN or infinite. Collective.
std::optional<Index3> first_not_finite(const Communicator& communicator, const Index3& shape,
                                       const Field& field);

/// Diagnostics of the owned points of all ranks; `previous` (or null) is the state one step before. All
/// values must be finite. Collective.
Diagnostics measure(const Communicator& communicator, const Index3& shape, const Field& field,
                    const Field* previous);

}  // namespace spsolve
