// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/signals.hpp"
#include "app/setup/options.hpp"
#include "halo/communicator.hpp"
#include "kernels/error.hpp"

namespace spsolve {

/// Solves an input: it makes fields, runs the time loop, and writes snapshots, checkpoints and the report.
/// Collective; returns how it ended.
Status run(const Communicator& communicator, const CommandLine& command, Signals& signals);

}  // namespace spsolve
