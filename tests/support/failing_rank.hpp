// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "halo/machine.hpp"

namespace spsolve::testing {

/// Returns the end of an error message if `rank` on this machine was the lowest that failed.
inline std::string found_by(int rank) {
  return rank == 0 ? "" : " (rank " + std::to_string(rank) + " on " + host_name() + ")";
}

}  // namespace spsolve::testing
