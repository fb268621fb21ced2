// SPDX-License-Identifier: Apache-2.0
#include "app/run/probes.hpp"

#include <algorithm>
#include <utility>

#include "halo/collectively.hpp"
#include "solver/interval.hpp"

namespace spsolve {
namespace {

/// A block keeps about this many values on a rank before they travel to the host.
constexpr std::int64_t values_kept = 1 << 20, min_kept = 16, max_kept = 1024;
/// Limits the chunks of rows that are under way at a time while the run goes on.
constexpr std::size_t max_chunks = 4;

}  // namespace

Probes::Probes(const Communicator& communicator, const RunConfig& config, Tables& tables,
               const Problem& problem, Block& block, int fuse, bool background)
    : communicator_(communicator),
      config_(config),
      precision_(sum_precision(problem.precision)),
      block_(block),
      fuse_(fuse),
      background_(background) {
  if (background && !config.probes.empty()) of_threads_.emplace(communicator);
  for (const ProbesConfig& given : config.probes) {
    const int axes = config.grid.domain.dimensions;
    ProbeGroup file{given.name, given.fields, axes,
                    {},         given.every,  Interval{given.every}.due_until(config.time.steps)};
    const auto points = read_points(tables, config.grid, given);
    std::vector<std::vector<Corner>> corners;
    for (const Coordinates& point : points) {
      file.at.insert(file.at.end(), point.end() - axes, point.end());
      corners.push_back(corners_of(config.grid, point, Interpolation::linear));
    }
    std::vector<std::size_t> fields;
    for (const std::string& name : given.fields) fields.push_back(problem.field_number(name));
    OpenGroup& group =
        groups_.emplace_back(OpenGroup{std::move(file), std::move(fields),
                                       ProbeValues(corners, block.decomposition(), communicator.rank())});
    // Every rank decides alike: the rank with the most grid points fills its memory first.
    const std::int64_t most = group.values.max_recorded() * std::ssize(group.fields);
    group.kept = std::clamp(values_kept / std::max<std::int64_t>(most, 1), min_kept, max_kept);
  }
}

Probes::~Probes() {
  // Threads that write must end first; their failures have been thrown, or another failure is on its way.
  for (const MovingRows& chunk : chunks_)
    if (background_) chunk.written.wait();
}

std::vector<RecordedPoints> Probes::recorded() const {
  std::vector<RecordedPoints> all;
  for (const OpenGroup& group : groups_) {
    // While some rows travel, others are recorded; a launch may record more than `kept` rows.
    RecordedPoints& points = all.emplace_back(RecordedPoints{group.file.every, 2 * (group.kept + fuse_), {}});
    group.values.record(group.fields, points);
  }
  return all;
}

void Probes::open(std::int64_t restart) {
  if (groups_.empty()) return;
  for (OpenGroup& group : groups_) group.begin = group.end = restart < 0 ? 0 : restart / group.file.every + 1;
  on_root(communicator_, [&] {
    std::vector<ProbeGroup> groups;
    for (const OpenGroup& group : groups_) groups.push_back(group.file);
    file_ = std::make_unique<ProbeFile>(config_.output.directory / "probes.h5", std::move(groups), precision_,
                                        restart);
  });
}

void Probes::record(std::int64_t step) {
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    OpenGroup& group = groups_[number];
    group.end = step / group.file.every + 1;
    if (group.end - group.begin >= group.kept) fetch(number);
  }
}

void Probes::end_at(std::int64_t step) {
  flush();
  for (OpenGroup& group : groups_) group.file.rows = step / group.file.every + 1;
  open(step);
}

void Probes::flush() {
  if (groups_.empty()) return;
  for (std::size_t number = 0; number < groups_.size(); ++number) fetch(number);
  while (!chunks_.empty()) take_oldest();
  on_root(communicator_, [&] { file_->flush(); });
}

void Probes::fetch(std::size_t number) {
  OpenGroup& group = groups_[number];
  if (group.begin == group.end) return;
  // Without threads, rows are written when the next ones begin to travel, so that nobody waits for them.
  while (chunks_.size() >= (background_ ? max_chunks : groups_.size())) take_oldest();
  const std::int64_t first = std::exchange(group.begin, group.end), count = group.end - first;
  MovingRows& chunk =
      chunks_.emplace_back(MovingRows{number, first, count, block_.recorded(number, first, count), {}});
  if (!background_) return;
  const auto before = chunks_.size() > 1 ? chunks_[chunks_.size() - 2].written : std::shared_future<void>();
  chunk.written =
      std::async(std::launch::async, [this, number, first, count, rows = chunk.rows.get(), before] {
        if (before.valid()) before.wait();
        write(number, first, count, *rows);
      });
}

void Probes::take_oldest() {
  const MovingRows chunk = std::move(chunks_.front());
  chunks_.pop_front();
  if (background_)
    chunk.written.get();
  else
    write(chunk.group, chunk.first, chunk.count, *chunk.rows);
}

void Probes::write(std::size_t number, std::int64_t first, std::int64_t count, RecordedRows& rows) {
  const Communicator& communicator = of_threads_ ? of_threads_->get() : communicator_;
  OpenGroup& group = groups_[number];
  const auto values =
      group.values.gather(communicator, rows.wait(), std::ssize(group.fields), count, precision_);
  on_root(communicator, [&] {
    std::vector<std::int64_t> steps;
    std::vector<double> times;
    for (std::int64_t row = first; row < first + count; ++row) {
      steps.push_back(row * group.file.every);
      times.push_back(static_cast<double>(steps.back()) * config_.time.dt);
    }
    file_->write(number, first, steps, times, values);
  });
}

}  // namespace spsolve
