// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tuple>

#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/precision.hpp"

namespace spsolve::cuda {

/// Runs the blocks of a launch, one after the other. The arguments are HostArguments, whose header includes
/// more than kernels need.
using EmulatedLaunch = void (*)(const SystemArguments<max_system_arrays>& a, int blocks, int threads);

/// Holds the kernels of a group of statements; grids of one axis have no march. `steps` takes several steps.
struct EmulatedSystem {
  EmulatedLaunch points = nullptr, march = nullptr, steps = nullptr;
};

/// Says whether warps of the next launches run until they wait for others, so that a missing wait shows.
inline bool warps_run_ahead = false;

constexpr int all_steps = -1;  // the group of kernels that take several steps

/// Holds the number of the example, precision, compute capability and group.
using EmulatedKey = std::tuple<int, Precision, int, int>;

/// Returns the systems that the program holds. Every file that compiles the kernels of a group adds them.
inline std::map<EmulatedKey, EmulatedSystem>& emulated_systems() {
  static std::map<EmulatedKey, EmulatedSystem> all;
  return all;
}

}  // namespace spsolve::cuda
