// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halo/communicator.hpp"
#include "kernels/field.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Sets the owned points to data that look random, a function of the point alone, in [-1, 1).
void set_benchmark_data(Field& field);

/// Holds the error of a computed state.
struct Errors {
  double l2 = 0, max = 0;  // relative to the l2 norm and the largest magnitude of the reference
};

/// Returns the error of the state after `steps` steps from set_benchmark_data(), with a source of the same
/// data if there is a source. It is measured on boxes at the corners and in the middle of every rank's block.
/// The reference of a box is computed on all points that it depends on: the box grown by steps * radius, up
/// to walls. Collective.
Errors measure_errors(const Communicator& communicator, const Problem& problem, const Field& state,
                      int steps);

}  // namespace spsolve
