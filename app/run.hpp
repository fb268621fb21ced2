// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/command_line.hpp"
#include "app/signals.hpp"
#include "halo/communicator.hpp"
#include "io/config.hpp"

namespace spsolve {

/// The input of a command line, read by rank 0 and understood alike by every rank. Collective.
RunConfig load_input(const Communicator& communicator, const CommandLine& command);

/// Solves an input: fields, time loop, snapshots, checkpoints, report. Collective; returns how it ended.
Status run(const Communicator& communicator, const CommandLine& command, Signals& signals);

}  // namespace spsolve
