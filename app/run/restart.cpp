// SPDX-License-Identifier: Apache-2.0
#include "app/run/restart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run/problem_differences.hpp"
#include "app/run/report.hpp"
#include "app/values/values.hpp"
#include "halo/collectively.hpp"

namespace spsolve {
namespace {

/// Returns the error of a checkpoint whose problem differs from the input in `different`.
Error of_another_problem(const Checkpoint& checkpoint, const std::vector<std::string>& different,
                         bool has_equations) {
  const std::string file = checkpoint.file.string();
  return {Status::invalid_input,
          fmt::format("{} is a checkpoint of another problem: {} differ(s) from the input; to begin a new "
                      "problem with its values use {} file = \"{}\", dataset = \"/{}\"{}",
                      file, fmt::join(different, ", "),
                      has_equations ? "[fields.<name>] initial = {" : "[initial]", file,
                      checkpoint.header.fields.front(), has_equations ? " }" : "")};
}

/// Throws Error(invalid_input) if a run of the input may not continue from the checkpoint, because the
/// problems differ in `different`.
void require_same_problem(const Checkpoint& checkpoint, const std::vector<std::string>& different,
                          bool has_equations, std::int64_t last_step) {
  if (!different.empty()) throw of_another_problem(checkpoint, different, has_equations);
  if (checkpoint.header.step > last_step)
    throw Error(Status::invalid_input,
                fmt::format("{} is at step {}, beyond the last step {}; a later end of [time] goes on from "
                            "there, and --restart with an earlier checkpoint goes back",
                            checkpoint.file.string(), checkpoint.header.step, last_step));
}

/// Returns, by section, the checksums of those coefficients from datasets that were known to the run that
/// wrote a checkpoint. A restart reads all coefficients, but no initial values.
ValueChecksums coefficients_to_compare(const Checkpoint& checkpoint, const RunConfig& config) {
  ValueChecksums known;
  if (config.equations)
    for (const auto& [name, form] : config.equations->coefficients) {
      const auto then = checkpoint.header.values.find(coefficient_section(config, name));
      if (std::holds_alternative<DatasetForm>(form) && then != checkpoint.header.values.end())
        known.insert(*then);
    }
  return known;
}

/// Throws Error(invalid_input) if new results would not fit the existing ones.
void require_same_results(const Checkpoint& checkpoint, const RunConfig& config, const ValueChecksums& values,
                          bool has_snapshots) {
  const auto different =
      different_results({checkpoint.header, checkpoint.file}, config, values, has_snapshots);
  if (!different.empty())
    throw Error(
        Status::invalid_input,
        fmt::format("results would no longer fit those in {}: {}; keep what was before, or continue in "
                    "another directory: --restart {} --output OTHER",
                    config.output.directory.string(), fmt::join(different, ", "), checkpoint.file.string()));
}

/// Throws Error(invalid_input) if results of another run would be overwritten or, if they are to be replaced,
/// the input reads one of them.
void require_replaceable(const RunDirectory& directory, const RunConfig& config, bool overwrite) {
  if (!overwrite) directory.require_no_results();
  for (const ValueSection& section : value_sections(config))
    if (const auto* dataset = std::get_if<DatasetForm>(&section.form))
      if (directory.holds(dataset->file))
        throw Error(Status::invalid_input,
                    fmt::format("--overwrite would remove {}, which the input reads; use another --output",
                                dataset->file.string()));
}

/// Warns if a finished run has reached a later step than the one from which this run continues.
void warn_of_steps_taken_again(const Communicator& communicator, const RunConfig& config, std::int64_t step,
                               const Terminal& terminal) {
  on_root(communicator, [&] {
    const std::int64_t end = finished_step(report_file(config.output.directory)).value_or(0);
    if (end > step && config.time.steps > step)
      terminal.warn(
          "the run in {} has reached step {}, without a checkpoint there: steps from {} on are computed "
          "again; "
          "[checkpoint] final = true leaves one at the end",
          config.output.directory.string(), end, step);
  });
}

/// Returns the checkpoint that --restart names, verified. Returns nothing for `latest` in a directory without
/// checkpoints. Throws Error(file_failure) if all checkpoints there are damaged. Collective.
std::optional<Checkpoint> wanted_checkpoint(const Communicator& communicator, const std::string& wanted,
                                            const std::filesystem::path& directory,
                                            const Terminal& terminal) {
  if (wanted != "latest") {
    on_root(communicator, [&] {
      std::error_code ignored;
      if (!std::filesystem::exists(wanted, ignored))
        throw Error(Status::invalid_input, fmt::format("--restart {}: no such file", wanted));
    });
    return verified_checkpoint(communicator, wanted);
  }
  LatestCheckpoint latest = find_latest_checkpoint(communicator, directory);
  for (const std::string& reason : latest.skipped) terminal.warn("passed over {}", reason);
  if (!latest.checkpoint && !latest.skipped.empty())
    throw Error(Status::file_failure, fmt::format("{}: no checkpoint there is whole", directory.string()));
  return std::move(latest.checkpoint);
}

/// Makes a run begin at a checkpoint. With --overwrite the latest checkpoint may be of another problem: it is
/// then passed over with a warning. Collective.
Beginning begin_at(const Communicator& communicator, const CommandLine& command, const RunConfig& config,
                   Tables& tables, const RunDirectory& directory, Checkpoint checkpoint,
                   const Terminal& terminal) {
  const FormerRun former{checkpoint.header, checkpoint.file};
  const bool replaces = command.overwrite && *command.restart == "latest";
  // Values that the run reads anyway are compared then, unless others would not be an error.
  const ValueChecksums later = replaces ? ValueChecksums{} : coefficients_to_compare(checkpoint, config);
  const Contents contents = contents_of(communicator, config, tables, former.config().time.steps, later);
  std::vector<std::string> different;
  collectively(communicator, [&] {
    different = different_problem(former, config, contents);
    if (!replaces || different.empty())
      require_same_problem(checkpoint, different, config.states_equations(), config.time.steps);
  });
  if (!different.empty()) {
    terminal.warn("passed over {}, of another problem: {} differ(s) from the input", checkpoint.file.string(),
                  fmt::join(different, ", "));
    return {};
  }
  terminal.print("restarting from {} at step {}", checkpoint.file.string(), checkpoint.header.step);
  const bool continued = directory.holds(checkpoint.file);
  const bool has_snapshots = directory.holds_snapshots_until(checkpoint.header.step);
  if (continued)
    collectively(communicator,
                 [&] { require_same_results(checkpoint, config, contents.values, has_snapshots); });
  return {std::move(checkpoint), continued, later};
}

/// Makes a run begin at the initial values. It continues the results of a run that ended before its first
/// checkpoint, if run.json has the same problem. Collective.
Beginning begin_anew(const Communicator& communicator, const RunConfig& config, Tables& tables) {
  const std::filesystem::path file = report_file(config.output.directory);
  std::optional<CheckpointHeader> stored;
  std::int64_t steps = 0;
  on_root(communicator, [&] {
    stored = problem_of_report(file);
    if (stored) steps = FormerRun{*stored, file}.config().time.steps;
  });
  if (communicator.all_reduce(int{stored.has_value()}, MPI_MAX) == 0) return {};
  const Contents contents =
      contents_of(communicator, config, tables, communicator.all_reduce(steps, MPI_MAX));
  on_root(communicator, [&] {
    const auto different = different_problem({*stored, file}, config, contents);
    if (!different.empty())
      throw Error(Status::invalid_input,
                  fmt::format("{} is of a run of another problem: {} differ(s) from the input; use "
                              "--overwrite to replace it, or another --output",
                              file.string(), fmt::join(different, ", ")));
  });
  return {std::nullopt, true};
}

}  // namespace

void require_same_values(const Beginning& beginning, const RunConfig& config, const std::string& section,
                         const std::string& checksum) {
  const auto then = beginning.later.find(section);
  if (then != beginning.later.end() && then->second != checksum)
    throw of_another_problem(*beginning.restart, {section}, config.states_equations());
}

Beginning find_beginning(const Communicator& communicator, const CommandLine& command,
                         const RunConfig& config, Tables& tables, const RunDirectory& directory,
                         const Terminal& terminal) {
  const std::filesystem::path& path = config.output.directory;
  Beginning beginning;
  if (command.restart) {
    std::optional<Checkpoint> checkpoint = wanted_checkpoint(communicator, *command.restart, path, terminal);
    if (checkpoint)
      beginning =
          begin_at(communicator, command, config, tables, directory, std::move(*checkpoint), terminal);
    else if (!command.overwrite)
      beginning = begin_anew(communicator, config, tables);
  }
  if (!beginning.continued) require_replaceable(directory, config, command.overwrite);
  if (command.restart && !beginning.restart)
    terminal.print("no checkpoint in {}: starting from the beginning", path.string());
  if (beginning.continued && *command.restart == "latest")
    warn_of_steps_taken_again(communicator, config, beginning.step(), terminal);
  return beginning;
}

}  // namespace spsolve
