// SPDX-License-Identifier: Apache-2.0
#include "app/run/writer.hpp"

#include "app/run/run_directory.hpp"
#include "app/setup/planning.hpp"
#include "io/checkpoint.hpp"
#include "io/field_rows.hpp"

namespace spsolve {

Writer::Writer(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
               std::int64_t restart)
    : communicator_(communicator),
      of_files_(communicator),
      series_(setup.config.output.directory),
      setup_(setup),
      terminal_(terminal),
      last_checkpoint_(restart),
      files_(setup.background) {}

Writer::~Writer() {
  try {
    files_.finish();
  } catch (const std::exception& failure) {
    terminal_.warn("{}", failure.what());
  }
}

void Writer::snapshot(std::int64_t step, const CopyState& state) {
  const auto write = [this, step](const std::vector<const Field*>& values) {
    const RunConfig& config = setup_.config;
    write_snapshot(
        of_files_.get(), series_,
        {config.name, step, time(step), config.grid, config.output.stride, config.output.precision},
        values.front()->owned(), rows_of(names_, values, config.output.precision));
  };
  add(FileQueue::Kind::snapshot, state, write, [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

void Writer::checkpoint(std::int64_t step, const CopyState& state) {
  const auto write = [this, step](const std::vector<const Field*>& values) {
    const RunConfig& config = setup_.config;
    write_checkpoint(of_files_.get(), config.output.directory,
                     {step, time(step), setup_.problem.precision, to_toml(config), to_json(setup_.plan),
                      checksum_of(setup_.problem.stencil), names_},
                     config.grid.domain.dimensions, config.grid.domain.shape, values.front()->owned(),
                     rows_of(names_, values, setup_.problem.precision));
    last_checkpoint_ = step;
    prune_checkpoints(of_files_.get(), config.output.directory, step, config.checkpoint.keep);
  };
  add(FileQueue::Kind::checkpoint, state, write, [this, step](const std::exception_ptr& failure) {
    if (failure) try {
        std::rethrow_exception(failure);
      } catch (const Error& error) {
        if (error.status() != Status::file_failure) throw;
        terminal_.warn("checkpoint of step {} not written: {}", step, error.what());
      }
  });
  wanted_checkpoint_ = step;  // not before: a state that is not finite is none to write
}

void Writer::diagnostics(std::int64_t step, const std::vector<Diagnostics>& by_field) {
  const auto begin = Clock::now();
  add_diagnostics_row(communicator_, setup_.config.output.directory, step, time(step), by_field);
  seconds_ += seconds_since(begin);
}

void Writer::finish() {
  const auto begin = Clock::now();
  files_.finish();
  seconds_ += seconds_since(begin);
}

void Writer::add(FileQueue::Kind kind, const CopyState& state, FileQueue::Write write, FileQueue::Done done) {
  const auto begin = Clock::now();
  files_.make_room(kind);
  const bool is_snapshot = kind == FileQueue::Kind::snapshot;
  files_.add(kind, state(is_snapshot ? setup_.for_snapshots() : setup_.for_checkpoints(), !is_snapshot),
             std::move(write), std::move(done));
  seconds_ += seconds_since(begin);
}

}  // namespace spsolve
