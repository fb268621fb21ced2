// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/setup/setup.hpp"

namespace spsolve {

/// Says how many copies with one sampling exist at a time. Each holds one array of the state.
struct StateCopies {
  Sampling sampling;
  std::int64_t arrays = 0;
};

/// Returns the copies of the state that exist at a time while `files` files are in progress, at most one of
/// them a checkpoint, and sums of diagnostics read the state: at the same time as files in the background,
/// and else between files. A checkpoint counts always, because a signal may ask for one. Files that are
/// written from the state itself need no copies.
std::vector<StateCopies> state_copies(const Setup& setup, int files);

/// Returns the bytes of these copies on the rank with the largest block.
std::size_t bytes_of_state_copies(const Setup& setup, int files);

}  // namespace spsolve
