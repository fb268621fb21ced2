// SPDX-License-Identifier: Apache-2.0
#include "app/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/inspect/describe.hpp"
#include "app/inspect/growth.hpp"
#include "app/run/cores.hpp"
#include "app/run/field_sums.hpp"
#include "app/run/images.hpp"
#include "app/run/point_sources.hpp"
#include "app/run/probes.hpp"
#include "app/run/report.hpp"
#include "app/run/requests.hpp"
#include "app/run/restart.hpp"
#include "app/run/run_directory.hpp"
#include "app/run/values_of_time.hpp"
#include "app/run/writer.hpp"
#include "app/setup/clock.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/state_copies.hpp"
#include "app/setup/terminal.hpp"
#include "app/setup/tune.hpp"
#include "app/values/fill_block.hpp"
#include "app/values/table_checksums.hpp"
#include "io/checkpoint.hpp"
#include "solver/block_memory.hpp"

namespace spsolve {
namespace {

/// Ends a run whose solution is no longer finite, after the files in progress. If one of them failed, also
/// the checkpoint of the last finite state, the run ends with that failure instead.
[[noreturn]] void end_diverged(const Error& diverged, Writer& writer) {
  std::string message = diverged.what();
  Status status = diverged.status();
  try {
    writer.finish();
  } catch (const Error& failure) {
    message += fmt::format("; {}", failure.what());
    status = failure.status();
  }
  if (!writer.checkpoint_written()) status = Status::file_failure;
  if (writer.last_checkpoint() >= 0)
    message += fmt::format("; last checkpoint: step {}", writer.last_checkpoint());
  throw Error(status, message);
}

/// Replaces the plan of a setup by the tuned plan if the input asks for it.
void tune(const Communicator& communicator, const RunConfig& config, Setup& setup, Tables& tables,
          const Terminal& terminal) {
  if (!may_tune(config.compute, setup.device)) return;
  const auto steps = config.compute.tune ? std::nullopt : std::optional(config.time.steps);
  const std::optional<StoredPlan> tuned =
      tuned_plan(communicator, setup.problem, plan_request(config, setup.problem), setup.plan, steps,
                 setup.device, config.parallel, terminal);
  if (!tuned) return;
  try {
    setup = make_setup(communicator, config, tables, tuned);
  } catch (const Error& error) {  // it is the same on every rank
    if (error.status() != Status::invalid_input) throw;
    terminal.warn("the tuned plan is left out: {}", error.what());
  }
  require_memory(communicator, setup, true);
}

/// Prints the choices, and warns of possible problems.
void announce(const Communicator& communicator, const Setup& setup, Tables& tables, bool restarted,
              const Terminal& terminal) {
  if (setup.config.output.background.value_or(false) && !setup.background)
    terminal.warn(
        "[output] background: this MPI library does not support several threads; the run waits for files");
  warn_of_growth(communicator, setup, terminal);
  warn_of_vanishing_numbers(setup, terminal);
  warn_of_silent_sources(tables, setup.config, terminal);
  warn_of_late_diagnostics(setup.config, terminal);
  print_summary(communicator, setup, terminal);
  if (!restarted) warn_of_full_disk(setup, files_of_run(setup, tables), terminal);
  const std::string advice = setup.device.cuda ? "" : advice_on_cores(communicator);
  if (!advice.empty()) terminal.print("{}", advice);
}

/// Returns the schedule of a run.
Schedule schedule_of(const Setup& setup, const Beginning& beginning) {
  const RunConfig& config = setup.config;
  return {beginning.step(),
          config.time.steps,
          config.output.every,
          config.diagnostics.every,
          config.checkpoint.every,
          setup.plan.chosen.fuse,
          config.checkpoint.final,
          config.time.until_change,
          beginning.restart ? beginning.restart->header.change : std::nullopt,
          record_intervals(config, setup.problem),
          setup.problem.keeps_previous()};
}

/// Evolves the block over the schedule, and completes all files. Throws Error after the files in progress if
/// the solution is no longer finite.
EvolveResult evolve_and_write(const Communicator& communicator, const Setup& setup, const Schedule& schedule,
                              Block& block, const Observers& observers, Writer& writer, Watchdog& watch,
                              Progress& progress, Probes& probes, Images& images) {
  try {
    const EvolveResult result = evolve(block, communicator, setup.problem, schedule, observers);
    progress.pause();
    if (result.outcome == Outcome::steady) {
      writer.outputs(result.step, block, true);
      probes.end_at(result.step);
    }
    probes.flush();
    images.flush();
    watch.enter(Phase::snapshot);
    writer.finish();
    return result;
  } catch (const Error& error) {
    if (error.status() == Status::diverged) {
      probes.flush();
      images.flush();
      end_diverged(error, writer);
    }
    // After a failure of a device or a peer the ranks cannot finish the files in progress together.
    if (error.status() != Status::device_failure) throw;
    const Error located(error.status(), fmt::format("{} ({})", error.what(), watch.whereabouts()));
    if (communicator.size() > 1) communicator.abort(located);
    throw located;
  }
}

/// Says what may have made the state of `step` NaN or infinite, or nothing. Collective.
std::string cause_of_divergence(const Communicator& communicator, const Setup& setup, PointSources& sources,
                                std::int64_t step) {
  constexpr std::int64_t most = 100'000;  // steps that are looked at: a second of computing
  const std::string value =
      value_beyond_range(communicator, setup, sources, std::max<std::int64_t>(step - most, 0), step);
  if (!value.empty() || !setup.problem.equations || step == 0) return value;
  return fmt::format("the time step may be too long{}",
                     looks_for_stable_step(communicator, setup)
                         ? " (spsolve check looks for the longest that is stable)"
                         : "");
}

/// Returns the callbacks of the time loop: they write files and answer requests, and inform the watchdog and
/// the terminal. All arguments must outlive them.
Observers observers_of(const Communicator& communicator, const Setup& setup, Writer& writer, Watchdog& watch,
                       Requests& requests, Progress& progress, PointSources& sources, Probes& probes,
                       Images& images, const FieldSums& sums, Block& block) {
  return {[&](std::int64_t step, const CopyState& state) {
            progress.pause();
            watch.enter(Phase::snapshot);
            writer.snapshot(step, state);
          },
          [&](std::int64_t step, const CopyState& state) {
            progress.pause();
            requests.checkpoint_begun();
            watch.enter(Phase::checkpoint);
            // A run that continues from here does not make earlier rows and images again.
            probes.flush();
            images.flush();
            writer.checkpoint(step, state);
          },
          [&](std::int64_t step, const std::vector<Diagnostics>& values) {
            watch.enter(Phase::diagnostics);
            writer.diagnostics(step, values, sums.at(step, block));
          },
          [&](std::int64_t step) {
            progress.at(step);
            writer.launched();
            watch.reach(step);
            watch.checkpoint_written(writer.last_checkpoint());
            const Request request = requests.poll(writer.files());
            if (requests.file_failed()) {
              progress.pause();
              watch.enter(Phase::checkpoint);
              writer.finish();
            }
            return request;
          },
          [&](std::int64_t, std::int64_t to) {
            probes.record(to);
            writer.outputs(to, block);
            if (!images.due(to)) return;
            watch.enter(Phase::snapshot);
            images.draw(to);
          },
          [&](std::int64_t step) { return cause_of_divergence(communicator, setup, sources, step); }};
}

/// Makes what a block needs for the launches and snapshots of a run.
void prepare(Block& block, const Schedule& schedule, const Setup& setup) {
  for (const int steps : launch_lengths(schedule)) block.prepare(steps);
  block.prepare(setup.for_snapshots());
}

/// Opens probes.h5 and the images of a run that continues from step `restart`. A run at its beginning (-1)
/// records its initial state. Collective.
void open_records(std::int64_t restart, bool has_points, Block& block, Probes& probes, Images& images) {
  probes.open(restart);
  if (restart < 0 && has_points) {
    block.record();
    probes.record(0);
  }
  images.open(restart);
  if (restart < 0) images.draw(0);
}

/// Fills the arrays of a block, from the input or the checkpoint, and records the checksums of all values
/// that the input reads in the setup. Collective.
void fill_arrays(const Communicator& communicator, const Beginning& beginning, Setup& setup, Tables& tables,
                 Block& block, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const std::optional<Checkpoint>& restart = beginning.restart;
  if (restart) setup.values.insert(restart->header.values.begin(), restart->header.values.end());
  fill_block(communicator, config, setup.problem, restart, block,
             [&](const std::string& section, const ValueFacts& facts) {
               require_same_values(beginning, config, section, facts.checksum);
               warn_of_values(setup, section, facts, terminal);
               setup.values[section] = facts.checksum;
             });
  for (const auto& [key, checksum] : checksums_of_tables(tables, config, config.time.steps))
    setup.values[key] = checksum;
}

/// Reports how a run ended, and returns its status. The schedule of a run that became steady ends there.
Status conclude(const Communicator& communicator, const Setup& setup, const std::string& transport,
                const EvolveResult& result, Schedule& schedule, const RunTimes& times,
                const Requests& requests, const Writer& writer, const Terminal& terminal) {
  if (result.outcome == Outcome::stopped && !writer.checkpoint_written())
    throw Error(Status::file_failure, "stopped without the checkpoint that was asked for");
  if (result.outcome == Outcome::steady) {
    schedule.last = result.step;
    terminal.print("steady at step {}: the last step changed every field by less than {:g} of its norm",
                   result.step, *setup.config.time.until_change);
  }
  report(communicator, setup, transport, schedule, result.outcome, times, terminal);
  if (result.outcome == Outcome::stopped) {
    terminal.print("stopped by {}; continue with --restart latest", requests.reason());
    return Status::stopped;
  }
  if (writer.last_checkpoint() < schedule.last)
    terminal.print(
        "no checkpoint of step {}: a longer run would begin at step {} again ([checkpoint] final = true "
        "leaves one)",
        schedule.last, std::max<std::int64_t>(writer.last_checkpoint(), 0));
  return Status::finished;
}

}  // namespace

Status run(const Communicator& communicator, const CommandLine& command, Signals& signals) {
  const Clock::time_point started = Clock::now();
  const Terminal terminal(communicator, command.quiet);
  const RunConfig config = load_input(communicator, command);
  RunDirectory directory(communicator, config.output.directory);
  Tables tables(communicator);
  const Beginning beginning = find_beginning(communicator, command, config, tables, directory, terminal);
  const std::optional<Checkpoint>& restart = beginning.restart;
  Setup setup = make_setup(communicator, config, tables,
                           restart ? std::optional(parse_plan(restart->header.plan)) : std::nullopt);
  require_memory(communicator, setup, true);
  Watchdog watch(communicator, setup.device.of_rank, config.parallel.timeout_seconds,
                 [&signals] { return signals.termination_requested(); });
  if (restart) watch.checkpoint_written(restart->header.step);
  if (!restart) tune(communicator, config, setup, tables, terminal);
  announce(communicator, setup, tables, restart.has_value(), terminal);

  const Machine machine = make_machine(communicator, setup.device, config.parallel, setup.background);
  if (communicator.size() > 1) terminal.print("halos by {}", machine.transport_name);
  Block block(communicator, setup.problem, setup.decomposition, setup.plan.chosen, *machine.backend,
              setup.exchange_every);
  block.watch_by(watch);
  Schedule schedule = schedule_of(setup, beginning);
  const FilesAtATime files = files_at_a_time(communicator, setup, block);
  if (setup.background)
    for (const auto& [sampling, arrays] : state_copies(setup, files.files))
      block.prepare_copies(sampling, static_cast<int>(arrays), files.on_device);
  prepare(block, schedule, setup);
  fill_arrays(communicator, beginning, setup, tables, block, terminal);

  PointSources sources(communicator, config, tables, setup.problem, block);
  const FieldSums field_sums(communicator, config, block);
  Probes probes(communicator, config, tables, setup.problem, block, setup.plan.chosen.fuse, setup.background);
  tables.clear();
  if (setup.problem.has_points)
    block.set_points({sources.added(), sources.columns(), probes.recorded()},
                     [&](std::int64_t step, std::span<double> amounts) { sources.amounts(step, amounts); });
  Images images(communicator, config, block);
  if (schedule.first < schedule.last)
    if (const std::string beyond = source_beyond_range(communicator, setup, sources, schedule.first);
        !beyond.empty())
      terminal.warn("{}", beyond);

  // All errors of the input were found by now: from here on files are written.
  const std::int64_t begun_at = restart ? restart->header.step : -1;
  directory.prepare(command.overwrite, beginning.continued ? std::optional(begun_at) : std::nullopt);
  signals.await_interrupt();
  begin_report(communicator, setup, machine.transport_name, schedule);
  schedule.measured = begin_diagnostics_file(communicator, config.output.directory, field_names(config),
                                             field_sums.names(), begun_at);

  open_records(begun_at, setup.problem.has_points, block, probes, images);
  Writer writer(communicator, setup, terminal, begun_at, files.files);
  Requests requests(communicator, signals, started, config.checkpoint.minutes, config.time.wall_limit_minutes,
                    static_cast<double>(copy_bytes(setup.decomposition, setup.for_checkpoints())));
  Progress progress(communicator, command.quiet, schedule.first, schedule.last,
                    setup.problem.domain.box().points());

  const double setup_seconds = seconds_since(started);
  const auto begin = Clock::now();
  const Observers observers = observers_of(communicator, setup, writer, watch, requests, progress, sources,
                                           probes, images, field_sums, block);
  if (!restart || begun_at == schedule.last) writer.outputs(schedule.first, block);
  const EvolveResult result = evolve_and_write(communicator, setup, schedule, block, observers, writer, watch,
                                               progress, probes, images);
  const RunTimes times{setup_seconds,   seconds_since(begin),   writer.seconds(),
                       block.timings(), writer.files().times(), files.files};
  return conclude(communicator, setup, machine.transport_name, result, schedule, times, requests, writer,
                  terminal);
}

}  // namespace spsolve
