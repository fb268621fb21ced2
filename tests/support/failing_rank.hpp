// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "halo/communicator.hpp"

namespace spsolve::testing {

/// What the message of an error ends with that this machine's `rank` was the lowest to find.
inline std::string found_by(int rank) {
  return rank == 0 ? "" : " (rank " + std::to_string(rank) + " on " + host_name() + ")";
}

}  // namespace spsolve::testing
