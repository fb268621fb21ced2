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
  const auto write = [this, step](const Field& values) {
    const RunConfig& config = setup_.config;
    write_snapshot(
        of_files_.get(), series_,
        {config.name, step, time(step), config.grid, config.output.stride, config.output.precision},
        values.owned(), rows_of(values, config.output.precision));
  };
  add(FileQueue::Kind::snapshot, state, write, [](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

void Writer::checkpoint(std::int64_t step, const CopyState& state) {
  const auto write = [this, step](const Field& values) {
    const RunConfig& config = setup_.config;
    flush_results();  // a run that goes on from this checkpoint does not write them again
    write_checkpoint(of_files_.get(), config.output.directory,
                     {step, time(step), setup_.problem.precision, to_toml(config), to_json(setup_.plan),
                      checksum_of(setup_.problem.stencil), setup_.values},
                     config.grid.domain.dimensions, config.grid.domain.shape, values.owned(),
                     rows_of(values, setup_.problem.precision));
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

void Writer::diagnostics(std::int64_t step, const Diagnostics& values) {
  const auto begin = Clock::now();
  add_diagnostics_row(communicator_, setup_.config.output.directory, step, time(step), values);
  seconds_ += seconds_since(begin);
}

void Writer::finish() {
  const auto begin = Clock::now();
  files_.finish();
  flush_results();
  seconds_ += seconds_since(begin);
}

/// Returns when what was written so far is on disk. Not while another thread writes files.
void Writer::flush_results() {
  collectively(of_files_.get(), [&] {
    const auto rows = diagnostics_file(setup_.config.output.directory);
    if (communicator_.root() && !is_stream(rows)) series_.unflushed().add(rows);
    series_.unflushed().flush();
  });
}

void Writer::add(FileQueue::Kind kind, const CopyState& state, std::function<void(const Field&)> write,
                 FileQueue::Done done) {
  const auto begin = Clock::now();
  files_.make_room(kind);
  files_.add(kind,
             state(kind == FileQueue::Kind::snapshot ? setup_.for_snapshots() : setup_.for_checkpoints()),
             std::move(write), std::move(done));
  seconds_ += seconds_since(begin);
}

}  // namespace spsolve
