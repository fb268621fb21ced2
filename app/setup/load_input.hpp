// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Returns the input of a command line, which rank 0 reads and every rank parses. Collective.
RunConfig load_input(const Communicator& communicator, const CommandLine& command);

}  // namespace spsolve
