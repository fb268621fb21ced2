// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/run/run_directory.hpp"
#include "app/setup/options.hpp"
#include "app/setup/terminal.hpp"
#include "halo/communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Returns the checkpoint that --restart asks for, verified; nothing without --restart, and for `latest` in a
/// directory where no run has written a checkpoint yet, so that a requeued job can always ask for it. Throws
/// Error(invalid_input) if the checkpoint is of another problem, naming what differs, and Error(file_failure)
/// if all checkpoints there are damaged. Collective.
std::optional<Checkpoint> find_restart(const Communicator& communicator, const CommandLine& command,
                                       const RunConfig& config, const Terminal& terminal);

/// Returns true if results in the output directory are those of the run that goes on: the checkpoint found
/// lies there or, for a run that ended before its first, run.json is of the same problem (without
/// --overwrite). Throws Error(invalid_input), naming what differs, if that is of another. Collective.
bool continues_results(const Communicator& communicator, const CommandLine& command, const RunConfig& config,
                       const std::optional<Checkpoint>& restart, const RunDirectory& directory);

}  // namespace spsolve
