// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/command_line.hpp"
#include "app/terminal.hpp"
#include "halo/communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/config.hpp"

namespace spsolve {

/// The checkpoint that --restart asks for, verified; nothing without --restart, and for `latest` in a
/// directory where no run has written a checkpoint yet (said, so that a requeued job can always ask for it).
/// Throws Error(invalid_input) if the checkpoint is of another problem, naming what differs, and
/// Error(file_failure) if all checkpoints there are damaged. Collective.
std::optional<Checkpoint> find_restart(const Communicator& communicator, const CommandLine& command,
                                       const RunConfig& config, const Terminal& terminal);

}  // namespace spsolve
