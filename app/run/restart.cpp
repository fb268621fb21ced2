// SPDX-License-Identifier: Apache-2.0
#include "app/run/restart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/run/report.hpp"
#include "app/setup/setup.hpp"

namespace spsolve {
namespace {

/// Whether initial values or sources are the same as far as inputs tell: a file may have moved along with the
/// input.
bool same_values(const std::optional<FieldForm>& a, const std::optional<FieldForm>& b) {
  const auto* one = a ? std::get_if<DatasetForm>(&*a) : nullptr;
  const auto* other = b ? std::get_if<DatasetForm>(&*b) : nullptr;
  if (!one || !other) return a == b;
  return one->file.filename() == other->file.filename() && one->dataset == other->dataset;
}

/// What makes the results of two inputs different problems, rather than a longer run or other output of one;
/// `stored` is what `file` says of its run.
std::vector<std::string> differences(const CheckpointHeader& stored, const std::filesystem::path& file,
                                     const RunConfig& config, const Stencil& stencil) {
  const RunConfig other = parse_config(stored.input, file, {});
  std::vector<std::string> different;
  if (!(other.grid.domain == config.grid.domain)) different.emplace_back("the grid's shape or [boundary]");
  if (other.grid.spacing != config.grid.spacing) different.emplace_back("grid.spacing");
  if (other.grid.origin != config.grid.origin) different.emplace_back("grid.origin");
  if (stored.weights != checksum_of(stencil)) different.emplace_back("the weights of [stencil]");
  if (other.time.dt != config.time.dt) different.emplace_back("dt");
  if (!same_values(other.initial, config.initial)) different.emplace_back("[initial]");
  if (!same_values(other.source, config.source)) different.emplace_back("[source]");
  if (other.compute.precision != config.compute.precision) different.emplace_back("compute.precision");
  if (!config.compute.accuracy && stored.precision != config.compute.precision)
    different.emplace_back(fmt::format("compute.accuracy (values are {})", to_string(stored.precision)));
  return different;
}

/// Throws Error(invalid_input) where a run of the input, which differs from the checkpoint's in `different`,
/// does not go on from there.
void require_same_problem(const Checkpoint& checkpoint, const std::vector<std::string>& different,
                          std::int64_t last_step) {
  const std::string file = checkpoint.file.string();
  if (!different.empty())
    throw Error(
        Status::invalid_input,
        fmt::format("{} is a checkpoint of another problem: {} differ(s) from the input; to begin a new "
                    "problem with its values use [initial] file = \"{}\", dataset = \"/u\"",
                    file, fmt::join(different, ", "), file));
  if (checkpoint.header.step > last_step)
    throw Error(Status::invalid_input, fmt::format("{} is at step {}, beyond the last step {}", file,
                                                   checkpoint.header.step, last_step));
}

}  // namespace

std::optional<Checkpoint> find_restart(const Communicator& communicator, const CommandLine& command,
                                       const RunConfig& config, const Terminal& terminal) {
  if (!command.restart) return std::nullopt;
  std::optional<Checkpoint> checkpoint;
  if (*command.restart == "latest") {
    LatestCheckpoint latest = find_latest_checkpoint(communicator, config.output.directory);
    for (const std::string& reason : latest.passed_over) terminal.warn("passed over {}", reason);
    if (!latest.checkpoint && !latest.passed_over.empty())
      throw Error(Status::file_failure,
                  fmt::format("{}: no checkpoint there is whole", config.output.directory.string()));
    checkpoint = std::move(latest.checkpoint);
  } else {
    on_root(communicator, [&] {
      std::error_code ignored;
      if (!std::filesystem::exists(*command.restart, ignored))
        throw Error(Status::invalid_input, fmt::format("--restart {}: no such file", *command.restart));
    });
    checkpoint = verified_checkpoint(communicator, *command.restart);
  }
  if (!checkpoint) return checkpoint;
  const Stencil stencil = read_stencil(communicator, config);
  std::vector<std::string> different;
  collectively(communicator, [&] {
    different = differences(checkpoint->header, checkpoint->file, config, stencil);
    const bool replaced = command.overwrite && *command.restart == "latest" && !different.empty();
    if (!replaced) require_same_problem(*checkpoint, different, config.time.steps);
  });
  if (!different.empty()) {
    terminal.warn("passed over {}, of another problem: {} differ(s) from the input",
                  checkpoint->file.string(), fmt::join(different, ", "));
    return std::nullopt;
  }
  terminal.print("restarting from {} at step {}", checkpoint->file.string(), checkpoint->header.step);
  return checkpoint;
}

bool continues_results(const Communicator& communicator, const CommandLine& command, const RunConfig& config,
                       const std::optional<Checkpoint>& restart, const RunDirectory& directory) {
  if (restart) return directory.holds(restart->file);
  if (!command.restart || command.overwrite) return false;
  const Stencil stencil = read_stencil(communicator, config);
  bool begun = false;
  on_root(communicator, [&] {
    const std::filesystem::path file = report_file(config.output.directory);
    const std::optional<CheckpointHeader> stored = problem_of_report(file);
    if (!stored) return;
    const auto different = differences(*stored, file, config, stencil);
    if (!different.empty())
      throw Error(Status::invalid_input,
                  fmt::format("{} is of a run of another problem: {} differ(s) from the input; use "
                              "--overwrite to replace it, or another --output",
                              file.string(), fmt::join(different, ", ")));
    begun = true;
  });
  return communicator.all_reduce(static_cast<int>(begun), MPI_MAX) == 1;
}

}  // namespace spsolve
