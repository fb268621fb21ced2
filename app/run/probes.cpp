// SPDX-License-Identifier: Apache-2.0
#include "app/run/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace spsolve {
namespace {

/// A block keeps about this many values on a rank before they travel to the host.
constexpr std::int64_t values_kept = 1 << 20, least_kept = 16, most_kept = 1024;

/// Returns the grid points that probes need, by the rank that owns them, each once and in their order.
std::vector<std::vector<Index3>> points_by_rank(const std::vector<std::vector<Corner>>& corners,
                                                const Decomposition& decomposition) {
  std::vector<Index3> all;
  for (const auto& around : corners)
    for (const Corner& corner : around) all.push_back(corner.p);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  std::vector<std::vector<Index3>> by_rank(static_cast<std::size_t>(decomposition.ranks()));
  for (const Index3& p : all) by_rank[static_cast<std::size_t>(decomposition.rank_of(p))].push_back(p);
  return by_rank;
}

}  // namespace

Probes::Probes(const Communicator& communicator, const RunConfig& config, const Problem& problem,
               Block& block, int fuse)
    : communicator_(communicator),
      config_(config),
      precision_(problem.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32),
      block_(block),
      fuse_(fuse) {
  for (const ProbesConfig& given : config.probes) {
    Group group;
    const int axes = config.grid.domain.dimensions;
    group.file = {given.name, given.fields, axes, {}, given.every, config.time.steps / given.every + 1};
    const auto points =
        read_points(communicator, config.grid, given.at, fmt::format("probes.{}.at", given.name));
    std::vector<std::vector<Corner>> corners;
    for (const Coordinates& point : points) {
      group.file.at.insert(group.file.at.end(), point.end() - axes, point.end());
      corners.push_back(corners_of(config.grid, point, Interpolation::linear));
    }
    for (const std::string& name : given.fields) group.fields.push_back(problem.field_number(name));
    const auto by_rank = points_by_rank(corners, block.decomposition());
    std::map<Index3, std::size_t> places;
    for (const auto& of_rank : by_rank) {
      group.counts.push_back(static_cast<int>(of_rank.size()));
      for (const Index3& p : of_rank) places.emplace(p, places.size());
    }
    if (communicator.root()) {
      for (const auto& around : corners) {
        group.starts.push_back(group.shares.size());
        for (const Corner& corner : around) group.shares.push_back({places.at(corner.p), corner.weight});
      }
      group.starts.push_back(group.shares.size());
    }
    group.own = by_rank[static_cast<std::size_t>(communicator.rank())];
    // Every rank decides alike, by the rank with the most grid points, whose memory fills first.
    const std::int64_t most = *std::ranges::max_element(group.counts) * std::ssize(group.fields);
    group.kept = std::clamp(values_kept / std::max<std::int64_t>(most, 1), least_kept, most_kept);
    groups_.push_back(std::move(group));
  }
}

std::vector<RecordedPoints> Probes::recorded() const {
  std::vector<RecordedPoints> all;
  for (const Group& group : groups_) {
    // While some rows travel, others are recorded; a launch may record more than `kept` rows.
    RecordedPoints& points = all.emplace_back(RecordedPoints{group.file.every, 2 * (group.kept + fuse_), {}});
    for (const std::size_t field : group.fields)
      for (const Index3& p : group.own) points.points.push_back({field, p});
  }
  return all;
}

void Probes::open(std::int64_t restart) {
  if (groups_.empty()) return;
  for (Group& group : groups_) group.begin = group.end = restart < 0 ? 0 : restart / group.file.every + 1;
  on_root(communicator_, [&] {
    std::vector<ProbeGroup> groups;
    for (const Group& group : groups_) groups.push_back(group.file);
    file_ = std::make_unique<ProbeFile>(config_.output.directory / "probes.h5", std::move(groups), precision_,
                                        restart);
  });
}

void Probes::record(std::int64_t step) {
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    Group& group = groups_[number];
    group.end = step / group.file.every + 1;
    if (group.end - group.begin < group.kept) continue;
    write(number);  // rows that were fetched one turn before
    fetch(number);
  }
}

void Probes::end_at(std::int64_t step) {
  flush();
  for (Group& group : groups_) group.file.rows = step / group.file.every + 1;
  open(step);
}

void Probes::flush() {
  if (groups_.empty()) return;
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    write(number);
    fetch(number);
    write(number);
  }
  on_root(communicator_, [&] { file_->flush(); });
}

void Probes::fetch(std::size_t number) {
  Group& group = groups_[number];
  if (group.begin == group.end) return;
  group.travelling = block_.recorded(number, group.begin, group.end - group.begin);
  group.travelling_begin = std::exchange(group.begin, group.end);
}

void Probes::write(std::size_t number) {
  Group& group = groups_[number];
  if (!group.travelling) return;
  std::exchange(group.travelling, nullptr)->wait_for(recorded_);
  const std::int64_t rows = group.begin - group.travelling_begin;
  const std::size_t fields = group.fields.size(), own = group.own.size();
  const auto points = static_cast<std::size_t>(group.file.points());
  values_.resize(fields);
  for (std::size_t field = 0; field < fields; ++field) {
    if (communicator_.root()) values_[field].resize(static_cast<std::size_t>(rows) * points);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      interpolate(group, recorded_.data() + (row * fields + field) * own,
                  values_[field].data() + row * points);
  }
  on_root(communicator_, [&] {
    std::vector<std::int64_t> steps;
    std::vector<double> times;
    for (std::int64_t row = group.travelling_begin; row < group.begin; ++row) {
      steps.push_back(row * group.file.every);
      times.push_back(static_cast<double>(steps.back()) * config_.time.dt);
    }
    file_->write(number, group.travelling_begin, steps, times, values_);
  });
}

const double* Probes::gather(const Group& group, const double* own) {
  if (communicator_.size() == 1) return own;
  std::vector<int> starts;
  int all = 0;
  for (const int count : group.counts) starts.push_back(std::exchange(all, all + count));
  if (communicator_.root()) gathered_.resize(static_cast<std::size_t>(all));
  check_mpi(MPI_Gatherv(own, static_cast<int>(group.own.size()), MPI_DOUBLE, gathered_.data(),
                        group.counts.data(), starts.data(), MPI_DOUBLE, 0, communicator_.handle()));
  return gathered_.data();
}

void Probes::interpolate(const Group& group, const double* own, double* values) {
  const double* const gathered = gather(group, own);
  if (!communicator_.root()) return;
  constexpr std::int64_t few = 4096;  // points, which one thread interpolates faster
  const std::int64_t points = group.file.points();
#pragma omp parallel for schedule(static) if (points > few)
  for (std::int64_t point = 0; point < points; ++point) {
    const auto i = static_cast<std::size_t>(point);
    double value = 0;
    for (std::size_t k = group.starts[i]; k < group.starts[i + 1]; ++k)
      value += group.shares[k].weight * gathered[group.shares[k].place];
    values[i] = value;
  }
}

}  // namespace spsolve
