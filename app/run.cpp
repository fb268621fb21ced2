// SPDX-License-Identifier: Apache-2.0
#include "app/run.hpp"

#include <fmt/format.h>

#include <memory>

#include "app/clock.hpp"
#include "app/report.hpp"
#include "app/requests.hpp"
#include "app/restart.hpp"
#include "app/run_directory.hpp"
#include "app/setup.hpp"
#include "app/terminal.hpp"
#include "io/atomic_file.hpp"
#include "io/checkpoint.hpp"
#include "io/field_rows.hpp"
#include "io/snapshot.hpp"
#include "solver/evolve.hpp"

namespace spsolve {
namespace {

/// Writes what a run leaves in its directory, and keeps the time that takes.
class Writer {
 public:
  Writer(const Communicator& communicator, const Setup& setup, const Terminal& terminal)
      : communicator_(communicator), setup_(setup), terminal_(terminal) {}

  void snapshot(std::int64_t step, const Field& state) {
    const auto begin = Clock::now();
    const RunConfig& config = setup_.config;
    write_snapshot(
        communicator_, config.output.directory,
        {config.name, step, time(step), config.grid, config.output.stride, config.output.precision},
        state.owned(), rows_of(state, config.output.precision));
    seconds_ += seconds_since(begin);
  }

  /// Returns false, with a warning, if the checkpoint could not be written: older ones are still there.
  bool checkpoint(std::int64_t step, const Field& state) {
    const auto begin = Clock::now();
    const RunConfig& config = setup_.config;
    try {
      write_checkpoint(communicator_, config.output.directory,
                       {step, time(step), config.compute.precision, to_toml(config), to_json(setup_.plan)},
                       config.grid.domain.dimensions, config.grid.domain.shape, state.owned(),
                       rows_of(state, config.compute.precision));
      prune_checkpoints(communicator_, config.output.directory, step, config.checkpoint.keep);
    } catch (const Error& error) {
      if (error.status() != Status::file_failure) throw;
      terminal_.warn("checkpoint of step {} not written: {}", step, error.what());
      return false;
    }
    last_checkpoint_seconds_ = seconds_since(begin);
    seconds_ += last_checkpoint_seconds_;
    return true;
  }

  void diagnostics(std::int64_t step, const Diagnostics& values) {
    const auto begin = Clock::now();
    add_diagnostics_row(communicator_, setup_.config.output.directory, step, time(step), values);
    seconds_ += seconds_since(begin);
  }

  double time(std::int64_t step) const { return static_cast<double>(step) * setup_.config.time.dt; }
  double seconds() const { return seconds_; }
  double last_checkpoint_seconds() const { return last_checkpoint_seconds_; }

 private:
  Communicator communicator_;
  const Setup& setup_;
  const Terminal& terminal_;
  double seconds_ = 0, last_checkpoint_seconds_ = 0;
};

}  // namespace

RunConfig load_input(const Communicator& communicator, const CommandLine& command) {
  std::string text;
  collectively(communicator, [&] {
    if (!communicator.root()) return;
    try {
      text = read_text(command.file);
    } catch (const Error& error) {
      throw Error(Status::invalid_input, error.what());
    }
  });
  text = communicator.broadcast(text);
  RunConfig config;
  collectively(communicator, [&] { config = parse_config(text, command.file, command.overrides); });
  if (command.output) config.output.directory = *command.output;
  return config;
}

Status run(const Communicator& communicator, const CommandLine& command, Signals& signals) {
  const Terminal terminal(communicator, command.quiet);
  const RunConfig config = load_input(communicator, command);
  const std::optional<Checkpoint> restart = find_restart(communicator, command, config, terminal);
  const Setup setup = make_setup(communicator, config,
                                 restart ? std::optional(fuse_of_json(restart->header.plan)) : std::nullopt);
  warn_of_growth(setup, terminal);
  require_memory(communicator, setup);
  print_summary(communicator, setup, terminal);

  const Machine machine = make_machine(communicator, setup.device, config.parallel);
  Block block(communicator, setup.problem, setup.decomposition, setup.plan.chosen, *machine.backend);
  if (config.source)
    block.set_source([&](Field& field) { fill(communicator, setup, *config.source, "source", field); });
  block.set_state([&](Field& field) {
    if (restart)
      read_checkpoint(communicator, *restart, setup.problem.domain.shape, field);
    else
      fill(communicator, setup, config.initial, "initial", field);
  });

  // Everything that can be wrong with the input was found by now: from here on files are written.
  const std::filesystem::path& directory = config.output.directory;
  const Schedule schedule{
      restart ? restart->header.step : 0, config.time.steps,       config.output.every,
      config.diagnostics.every,           config.checkpoint.every, setup.plan.chosen.fuse};
  prepare_run_directory(communicator, directory, command.overwrite, command.restart.has_value());
  begin_diagnostics_file(communicator, directory, restart ? schedule.first : -1);

  Writer writer(communicator, setup, terminal);
  Requests requests(communicator, signals, config.checkpoint.minutes, config.time.wall_limit_minutes);
  Progress progress(communicator, command.quiet, schedule.first, schedule.last,
                    setup.problem.domain.box().points());
  Request request = Request::none;
  const auto checkpoint = [&](std::int64_t step, const CopyState& state) {
    progress.pause();
    if (writer.checkpoint(step, state()->wait()))
      requests.checkpoint_written(writer.last_checkpoint_seconds());
    else if (request == Request::stop)
      throw Error(Status::file_failure, "stopped without the checkpoint that was asked for");
  };
  const Observers observers{
      [&](std::int64_t step, const CopyState& state) { writer.snapshot(step, state()->wait()); }, checkpoint,
      [&](std::int64_t step, const Diagnostics& values) { writer.diagnostics(step, values); },
      [&](std::int64_t step) {
        progress.at(step);
        return request = requests.poll();
      }};

  const auto begin = Clock::now();
  const Outcome outcome = evolve(block, communicator, setup.problem, schedule, observers);
  progress.pause();
  const RunTimes times{seconds_since(begin), writer.seconds(), block.timings()};
  report(communicator, setup, schedule, outcome, times, terminal);
  if (outcome == Outcome::finished) return Status::finished;
  terminal.print("stopped by {}; go on with --restart latest", requests.reason());
  return Status::stopped;
}

}  // namespace spsolve
