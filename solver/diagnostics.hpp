// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "halo/communicator.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Numbers about the whole grid at one step, in double. The sums are exact up to a rounding far below that of
/// a plain sum, and in whatever order: any number of ranks, on any device, gives the same bits. (Of a grid
/// whose largest value is below 2^-1021, squares below 2^-100 of it may count as zero.)
struct Diagnostics {
  double min = 0, max = 0;
  double mean = 0;
  double l2 = 0;         // sqrt(sum u^2)
  double change_l2 = 0;  // sqrt(sum (u - u one step before)^2); 0 before the first step
};

/// What one pass over the own points of a state finds, and the copy of what is kept of them, on its way.
struct ScanResult {
  Extremes extremes;
  std::shared_ptr<HostCopy> copy;  // null where nothing is kept
};

/// The state of this rank at one step. `previous` (or null) is the state before; both are in the backend's
/// memory.
struct StateView {
  Backend* backend;
  const Field* state;
  const Field* previous;

  ScanResult scan() const { return {backend->reducer().extremes(*state, previous, {}), nullptr}; }
  ScanResult scan(const Sampling& kept) const;
};

/// Extremes of the points of all ranks from those of the own `box`; the first point that is not finite is
/// numbered in C order of the grid. Collective.
Extremes extremes_of_all(const Communicator& communicator, const Index3& shape, const Box& box,
                         const Extremes& own);

/// That point's indices; nothing if all are finite.
std::optional<Index3> first_not_finite(const Extremes& extremes, const Index3& shape);

/// Diagnostics of a finite state, whose extremes these are. Collective.
Diagnostics measure(const Communicator& communicator, const Index3& shape, const StateView& view,
                    const Extremes& extremes);

}  // namespace spsolve
