// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/operator/interpret.hpp"

namespace spsolve {

/// Describes what a step needs besides the state: the grid, with the walls of each field, the time step and
/// the coefficients.
struct StepContext {
  std::array<double, 3> origin{}, spacing{1.0, 1.0, 1.0};  // {z, y, x}
  double dt = 1.0;
  std::vector<Domain> fields;                     // one per field, all of one shape
  std::vector<std::vector<double>> coefficients;  // values of each coefficient, in that shape, x fastest

  const Index3& shape() const { return fields.front().shape; }
};

/// Holds the fields at step n and one step before, of the shape of the grid, x fastest.
template <class T>
struct SystemState {
  std::vector<std::vector<T>> now, previous;
  std::int64_t step = 0;
};

/// Returns coordinates, coefficients, t and n of the context as leaf values, which throw
/// std::logic_error for fields.
LeafValue given_values(const StepContext& context, std::int64_t step);

}  // namespace spsolve
