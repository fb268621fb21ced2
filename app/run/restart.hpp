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

/// Returns the checkpoint that --restart asks for, verified. Returns nothing without --restart, and for
/// `latest` in a directory without checkpoints, so that a requeued job can always ask for it. Throws
/// Error(invalid_input) if the checkpoint belongs to another problem, naming the differences, and
/// Error(file_failure) if all checkpoints there are damaged. Collective.
std::optional<Checkpoint> find_restart(const Communicator& communicator, const CommandLine& command,
                                       const RunConfig& config, const Terminal& terminal);

/// Returns true if the results in the output directory belong to the run that continues. This holds if the
/// checkpoint lies there or, for a run that ended before its first checkpoint, if run.json has the same
/// problem (without --overwrite). Throws Error(invalid_input), naming the differences, if run.json has
/// another problem. Collective.
bool continues_results(const Communicator& communicator, const CommandLine& command, const RunConfig& config,
                       const std::optional<Checkpoint>& restart, const RunDirectory& directory);

}  // namespace spsolve
