// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "app/run/run_directory.hpp"
#include "app/setup/options.hpp"
#include "app/setup/tables.hpp"
#include "app/setup/terminal.hpp"
#include "halo/communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Says where a run begins: with the initial values, or with a checkpoint, whose results it may continue.
struct Beginning {
  std::optional<Checkpoint> restart = {};
  bool continued = false;     // the results in the output directory are those of this run
  ValueChecksums later = {};  // what require_same_values() compares when the run has read it

  std::int64_t step() const { return restart ? restart->header.step : 0; }
};

/// Finds the beginning of a run: the checkpoint that --restart asks for, verified, or the initial values. The
/// run begins with the initial values without --restart, and with `--restart latest` in a directory without
/// checkpoints, so that a requeued job can always pass this option.
///
/// The run continues the results in the output directory if the checkpoint lies there or, for a run that
/// ended before its first checkpoint, if run.json has the same problem (without --overwrite).
///
/// Throws Error(invalid_input) if the checkpoint or run.json belongs to another problem, naming the
/// differences, or if results of another run are in the way, and Error(file_failure) if all checkpoints are
/// damaged. Collective.
Beginning find_beginning(const Communicator& communicator, const CommandLine& command,
                         const RunConfig& config, Tables& tables, const RunDirectory& directory,
                         const Terminal& terminal);

/// Throws Error(invalid_input) if a section of the input, which find_beginning() has left to be read by the
/// run, has other values than in the run that wrote the checkpoint.
void require_same_values(const Beginning& beginning, const RunConfig& config, const std::string& section,
                         const std::string& checksum);

}  // namespace spsolve
