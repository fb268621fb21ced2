// SPDX-License-Identifier: Apache-2.0
#include "app/run/writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "app/run/run_directory.hpp"
#include "app/run/values_beyond_format.hpp"
#include "app/setup/planning.hpp"
#include "halo/collectively.hpp"
#include "io/checkpoint.hpp"
#include "io/field_rows.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

/// Returns true if a system has one equation of a field, `field.next = field`.
bool is_kept(const Canonical& canonical, std::size_t field) {
  const auto statement = std::ranges::find(canonical.fields, static_cast<int>(field));
  const Reading& next = canonical.equations[static_cast<std::size_t>(statement - canonical.fields.begin())];
  const CanonicalNode& node = canonical.nodes[static_cast<std::size_t>(next.node)];
  return next.offset == Index3{} && node.kind == NodeKind::field && node.level == Level::now &&
         node.index == static_cast<int>(field);
}

}  // namespace

Writer::Writer(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
               std::int64_t restart, int files)
    : communicator_(communicator),
      series_(setup.config.output.directory),
      setup_(setup),
      terminal_(terminal),
      last_checkpoint_(restart),
      warned_of_frozen_(setup.problem.field_count()),
      files_(setup.background, files),
      outputs_(of_files_, setup, terminal, files_, series_) {
  for (int i = 0; i < files; ++i) of_files_.emplace_back(communicator);
  const Problem& problem = setup.problem;
  in_snapshots_ = chosen_fields(problem, setup.config.output.fields);
  for (std::size_t i = 0; i < problem.field_count(); ++i) names_.push_back(problem.field_name(i));
  for (std::size_t i = 0; i < problem.field_count(); ++i)
    if (problem.has_previous(i)) names_.push_back(previous_of(names_[i]));
}

Writer::~Writer() {
  try {
    files_.finish();
  } catch (const std::exception& failure) {
    terminal_.warn("{}", failure.what());
  }
}

void Writer::snapshot(std::int64_t step, const CopyState& state) {
  const auto beyond =
      std::make_shared<ValuesBeyondFormat>(setup_.problem.precision, setup_.config.output.precision);
  const CopyState bounded = [&](const Sampling& sampling, bool with_previous) {
    Copies copies = state(sampling, with_previous);
    beyond->look_at(copies);
    return copies;
  };
  const auto write = [this, step, beyond](const std::vector<ReadableField>& values, const FileTurn& turn) {
    const Communicator& communicator = of_files_[static_cast<std::size_t>(turn.slot)].get();
    const RunConfig& config = setup_.config;
    const Precision precision = config.output.precision;
    std::vector<NamedRows> fields;
    for (const std::size_t i : in_snapshots_) fields.push_back(named_rows(names_[i], values[i], precision));
    beyond->count_in(communicator, fields);
    Snapshot snapshot{config.name, step, time(step), config.grid, config.output.stride, precision};
    snapshot.compression = config.output.compression;
    write_snapshot(communicator, series_, snapshot, values.front().field->owned(), fields, turn);
    beyond->sum(communicator);
  };
  add(FileQueue::FileKind::snapshot, bounded, write, [this, step, beyond](const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
    if (!warned_of_range_)
      warned_of_range_ = beyond->warn(terminal_, fmt::format("snapshot of step {}", step), "output");
  });
}

void Writer::checkpoint(std::int64_t step, const CopyState& state) {
  const std::optional<double> change =
      setup_.config.time.until_change && step == compared_ ? std::optional(change_) : std::nullopt;
  const auto write = [this, step, change](const std::vector<ReadableField>& values, const FileTurn& turn) {
    const Communicator& communicator = of_files_[static_cast<std::size_t>(turn.slot)].get();
    const RunConfig& config = setup_.config;
    turn.wait();
    flush_results(communicator);  // a run that continues from here does not write earlier files again
    write_checkpoint(communicator, config.output.directory,
                     {step, time(step), setup_.problem.precision, to_toml(config), to_json(setup_.plan),
                      setup_.checksum, field_names(config), setup_.values, change},
                     config.grid.domain.dimensions, config.grid.domain.shape, values.front().field->owned(),
                     rows_of(names_, values, setup_.problem.precision),
                     {.threads = turn.threads, .took = turn.took});
    last_checkpoint_ = step;
    prune_checkpoints(communicator, config.output.directory, step, config.checkpoint.keep);
  };
  add(FileQueue::FileKind::checkpoint, state, write, [this, step](const std::exception_ptr& failure) {
    if (failure) try {
        std::rethrow_exception(failure);
      } catch (const Error& error) {
        if (error.status() != Status::file_failure) throw;
        terminal_.warn("checkpoint of step {} not written: {}", step, error.what());
      }
  });
  wanted_checkpoint_ = step;  // set after the copy, because a state that is not finite needs no checkpoint
}

void Writer::diagnostics(std::int64_t step, const std::vector<Diagnostics>& by_field,
                         const std::vector<double>& sums) {
  const auto begin = Clock::now();
  warn_where_frozen(step, by_field);
  warn_of_sums(step, sums);
  if (std::ranges::none_of(by_field, [](const Diagnostics& field) { return std::isnan(field.change_l2); })) {
    compared_ = step;
    change_ = largest_change(by_field);
  }
  add_diagnostics_row(communicator_, setup_.config.output.directory, step, time(step), by_field, sums);
  seconds_ += seconds_since(begin);
}

/// Returns true if nothing is to change a field. One of equations is its own next value and has no point
/// sources. One of a single stencil has the same value everywhere, the walls have this value too, and there
/// is no source.
bool Writer::is_steady(std::size_t field, const Diagnostics& values) const {
  const Problem& problem = setup_.problem;
  if (problem.equations) {
    const auto adds = [&](const PointSourceConfig& source) {
      return source.field == problem.field_name(field);
    };
    return is_kept(problem.equations->canonical, field) &&
           std::ranges::none_of(setup_.config.point_sources, adds);
  }
  const Domain& domain = problem.domain;
  bool steady = values.min == values.max && !problem.has_source;
  for (const auto& faces : domain.faces)
    for (const Face& face : faces)
      steady = steady && (face.kind != BoundaryKind::dirichlet || face.value == values.min);
  return steady;
}

/// Warns once of each field that has reached values which its precision cannot change any more: all changes
/// are smaller than half the distance of two neighbouring numbers of the format. Zero has no such distance.
void Writer::warn_where_frozen(std::int64_t step, const std::vector<Diagnostics>& by_field) {
  const Precision accepted = setup_.config.compute.precision, computed = setup_.problem.precision;
  if (step == 0 || computed == Precision::fp64) return;
  constexpr double few = 0.05;  // share of points that may still change by one last place
  std::vector<std::string> frozen;
  double change = 0;  // relative to the norm, the largest of the frozen fields
  for (std::size_t i = 0; i < by_field.size(); ++i) {
    const Diagnostics& field = by_field[i];
    if (warned_of_frozen_[i] || is_steady(i, field) || field.l2 == 0 ||
        !(field.change_l2 <= few * unit_roundoff(computed) * field.l2))
      continue;
    warned_of_frozen_[i] = true;
    frozen.push_back(names_[i]);
    change = std::max(change, field.change_l2 / field.l2);
  }
  if (frozen.empty()) return;
  const std::string advice =
      accepted != computed  // which compute.accuracy accepts
          ? fmt::format(
                "compute.accuracy = {:g} accepts that; a smaller one, or none, keeps them (this run uses {} "
                "instead of {})",
                *setup_.config.compute.accuracy, to_string(computed), to_string(accepted))
          : fmt::format("Unless {} steady, compute.precision = \"{}\" is needed",
                        frozen.size() == 1 ? "it is" : "they are",
                        to_string(computed == Precision::fp32 ? Precision::fp64 : Precision::fp32));
  terminal_.warn(
      "step {} has changed {} by {:.2g} of its norm, less than {} can tell: further changes may be lost to "
      "rounding, in every step. {}",
      step, fmt::join(frozen, ", "), change, to_string(computed), advice);
}

void Writer::warn_of_sums(std::int64_t step, const std::vector<double>& sums) {
  const auto sum = std::ranges::find_if(sums, [](double value) { return !std::isfinite(value); });
  if (sum == sums.end() || std::exchange(warned_of_sums_, true)) return;
  const auto& given = setup_.config.diagnostics.sums;
  terminal_.warn("[diagnostics.sums] {} is {} at step {}: the formula is NaN or infinite at some point",
                 std::next(given.begin(), sum - sums.begin())->first, *sum, step);
}

void Writer::outputs(std::int64_t step, Block& block, bool rest) {
  const auto begin = Clock::now();
  outputs_.write(step, block, rest);
  seconds_ += seconds_since(begin);
}

void Writer::finish() {
  const auto begin = Clock::now();
  files_.finish();
  flush_results(of_files_.front().get());
  seconds_ += seconds_since(begin);
}

/// Returns when all results up to the last file that has ended are on disk. Call it in the turn of a file, or
/// while none is in progress.
void Writer::flush_results(const Communicator& communicator) {
  collectively(communicator, [&] {
    const auto rows = diagnostics_file(setup_.config.output.directory);
    if (communicator_.root() && !is_stream(rows)) series_.unflushed().add(rows);
    series_.unflushed().flush();
  });
}

void Writer::add(FileQueue::FileKind kind, const CopyState& state, FileQueue::Write write,
                 FileQueue::Done done) {
  const auto begin = Clock::now();
  files_.make_room(kind);
  const bool is_snapshot = kind == FileQueue::FileKind::snapshot;
  files_.add(kind, state(is_snapshot ? setup_.for_snapshots() : setup_.for_checkpoints(), !is_snapshot),
             std::move(write), std::move(done));
  seconds_ += seconds_since(begin);
}

}  // namespace spsolve
