// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "halo/communicator.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Holds numbers about the whole grid at one step, in double. The rounding error of the sums is far below
/// that of a plain sum and does not depend on the order, so any number of ranks and any device give the same
/// bits. (If the largest value of the grid is below 2^-1021, squares below 2^-100 of its square may count as
/// zero.)
struct Diagnostics {
  double min = 0, max = 0;
  double mean = 0;
  double l2 = 0;         // sqrt(sum u^2)
  double change_l2 = 0;  // sqrt(sum (u - u one step before)^2); 0 before the first step, NaN if
                         // a checkpoint holds no values one step before
};

/// Holds the results of one pass over the owned points of a state: extremes and a copy of the sampled points,
/// possibly in transfer.
struct ScanResult {
  Extremes extremes;
  std::shared_ptr<HostCopy> copy;  // null if nothing is copied
};

/// Refers to the state of this rank at one step, and to the state before in `previous` (may be null). Both
/// are in the backend's memory.
struct StateView {
  Backend* backend;
  const Field* state;
  const Field* previous;

  ScanResult scan() const { return {backend->reducer().extremes(*state, previous, {}), nullptr}; }
  ScanResult scan(const Sampling& sampling) const;
};

/// Returns the first `count` values of a field of one row that begins at point 0, in the backend's memory.
/// Waits for enqueued work.
std::vector<double> values_of_row(Backend& backend, const Field& row, std::size_t count);

/// Combines the extremes of all ranks. `own` are those of this rank's `box`. The first point that is not
/// finite is numbered in C order of the whole grid. Collective.
Extremes extremes_of_all(const Communicator& communicator, const Index3& shape, const Box& box,
                         const Extremes& own);

/// Returns the indices of the first point that is not finite, or nothing if all values are finite.
std::optional<Index3> first_not_finite(const Extremes& extremes, const Index3& shape);

/// Returns the sum of the owned points of all ranks' fields, in double in host memory, or NaN if a value is
/// not finite. Any number of ranks gives the same bits. Collective.
double sum_over_grid(const Communicator& communicator, const Index3& shape, const Field& host);

/// Returns the diagnostics of a finite state with these extremes. Collective.
Diagnostics measure(const Communicator& communicator, const Index3& shape, const StateView& view,
                    const Extremes& extremes);

}  // namespace spsolve
