// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Returns the input of a command line, read by rank 0 and understood alike by every rank. Collective.
RunConfig load_input(const Communicator& communicator, const CommandLine& command);

}  // namespace spsolve
