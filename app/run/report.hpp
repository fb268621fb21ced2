// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/file_queue.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "io/checkpoint.hpp"
#include "solver/block.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Holds the wall time of this rank by part, in seconds.
struct RunTimes {
  double setup = 0;  // before the time loop
  double total = 0;  // the time loop
  double files = 0;  // the time for which the time loop waits for files
  Timings block;
  FileTimes of_files;
  int files_at_a_time = 1;
};

/// Returns `directory`/run.json.
std::filesystem::path report_file(const std::filesystem::path& directory);

/// Returns the problem that a report describes, in the form of a checkpoint's header (step and plan are left
/// out). Returns nothing if there is no report that can be read.
std::optional<CheckpointHeader> problem_of_report(const std::filesystem::path& file);

/// Returns the last step of the run that a report describes. Returns nothing if the run did not finish or if
/// there is no report.
std::optional<std::int64_t> finished_step(const std::filesystem::path& file);

/// Writes the part of run.json that is known at the start, if there are steps to take. With it a restart can
/// tell which run the directory belongs to even if the run ends before its first checkpoint. `transport`
/// names the transport of halos. Collective.
void begin_report(const Communicator& communicator, const Setup& setup, const std::string& transport,
                  const Schedule& schedule);

/// Prints the rate and the least and largest times over the ranks, and writes run.json. If an earlier run
/// took all steps, its report stays. Collective.
void report(const Communicator& communicator, const Setup& setup, const std::string& transport,
            const Schedule& schedule, Outcome outcome, const RunTimes& times, const Terminal& terminal);

}  // namespace spsolve
