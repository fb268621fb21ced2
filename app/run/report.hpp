// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "io/checkpoint.hpp"
#include "solver/block.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Where the wall time of this rank went, in seconds.
struct RunTimes {
  double setup = 0;  // until the time loop
  double total = 0;  // of it
  double files = 0;  // in it
  Timings block;
};

/// `directory`/run.json
std::filesystem::path report_file(const std::filesystem::path& directory);

/// Returns what a report says of its problem, as a checkpoint does (step and plan are left out); nothing
/// where there is none that can be read.
std::optional<CheckpointHeader> problem_of_report(const std::filesystem::path& file);

/// Returns the last step of the run that a report describes. Returns nothing if the run did not finish or if
/// there is no report.
std::optional<std::int64_t> finished_step(const std::filesystem::path& file);

/// Writes run.json as far as it is known at the start, if there are steps to take: a restart can tell what
/// the directory is of even if the run ends before its first checkpoint. `transport` is what halos travel
/// by. Collective.
void begin_report(const Communicator& communicator, const Setup& setup, const std::string& transport,
                  const Schedule& schedule);

/// Prints the rate and where the time went, least and most over the ranks, and writes run.json, unless there
/// is that of a run that had taken all the steps before. Collective.
void report(const Communicator& communicator, const Setup& setup, const std::string& transport,
            const Schedule& schedule, Outcome outcome, const RunTimes& times, const Terminal& terminal);

}  // namespace spsolve
