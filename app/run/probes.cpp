// SPDX-License-Identifier: Apache-2.0
#include "app/run/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace spsolve {
namespace {

/// Values that a rank keeps before it sends them to rank 0.
constexpr std::size_t values_kept = 1 << 18;

/// Grid points that probes need, by the rank that owns them, each once and in their order.
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
               Block& block)
    : communicator_(communicator),
      config_(config),
      precision_(problem.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32),
      block_(block) {
  for (const ProbesConfig& given : config.probes) {
    Group group;
    const int axes = config.grid.domain.dimensions;
    group.file = {given.name, given.fields, axes, {}, given.every, config.time.steps / given.every + 1};
    const auto points =
        read_points(communicator, config.grid, given.at, fmt::format("probes.{}.at", given.name));
    for (const Coordinates& point : points) {
      group.file.at.insert(group.file.at.end(), point.end() - axes, point.end());
      group.corners.push_back(corners_of(config.grid, point, Interpolation::linear));
    }
    for (const std::string& name : given.fields)
      for (std::size_t field = 0; field < problem.field_count(); ++field)
        if (problem.field_name(field) == name) group.fields.push_back(field);
    const auto by_rank = points_by_rank(group.corners, block.decomposition());
    std::map<Index3, std::size_t> places;
    for (const auto& of_rank : by_rank) {
      group.counts.push_back(static_cast<int>(of_rank.size()));
      for (const Index3& p : of_rank) places.emplace(p, places.size());
    }
    if (communicator.root())
      for (const auto& around : group.corners)
        for (const Corner& corner : around) group.places.push_back(places.at(corner.p));
    group.own = std::make_unique<PointValues>(
        block.point_values(by_rank[static_cast<std::size_t>(communicator.rank())]));
    group.rows.resize(group.fields.size());
    groups_.push_back(std::move(group));
  }
}

void Probes::open(std::int64_t restart) {
  if (groups_.empty()) return;
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
    if (step % group.file.every != 0) continue;
    group.steps.push_back(step);
    for (std::size_t i = 0; i < group.fields.size(); ++i) {
      const std::vector<double> values = block_.values_at(*group.own, group.fields[i]);
      group.rows[i].insert(group.rows[i].end(), values.begin(), values.end());
    }
    // Every rank decides alike: the rank with the most grid points fills its memory first.
    const auto most = static_cast<std::size_t>(*std::ranges::max_element(group.counts));
    if (group.steps.size() * most * group.fields.size() >= values_kept) write(number);
  }
}

void Probes::end_at(std::int64_t step) {
  flush();
  for (Group& group : groups_) group.file.rows = step / group.file.every + 1;
  open(step);
}

void Probes::flush() {
  if (groups_.empty()) return;
  for (std::size_t number = 0; number < groups_.size(); ++number) write(number);
  on_root(communicator_, [&] { file_->flush(); });
}

void Probes::write(std::size_t number) {
  Group& group = groups_[number];
  if (group.steps.empty()) return;
  const std::size_t rows = group.steps.size(), points = group.corners.size();
  std::vector<std::vector<double>> values(group.fields.size());
  std::size_t all = 0;
  for (const int count : group.counts) all += static_cast<std::size_t>(count);
  std::vector<int> starts;
  for (int start = 0; const int count : group.counts) starts.push_back(std::exchange(start, start + count));
  std::vector<double> row(communicator_.root() ? all : 0);
  const auto own = static_cast<std::size_t>(group.counts[static_cast<std::size_t>(communicator_.rank())]);
  for (std::size_t field = 0; field < values.size(); ++field) {
    for (std::size_t i = 0; i < rows; ++i) {
      check_mpi(MPI_Gatherv(group.rows[field].data() + i * own, static_cast<int>(own), MPI_DOUBLE, row.data(),
                            group.counts.data(), starts.data(), MPI_DOUBLE, 0, communicator_.handle()));
      if (!communicator_.root()) continue;
      for (std::size_t point = 0, place = 0; point < points; ++point) {
        double value = 0;
        for (const Corner& corner : group.corners[point]) value += corner.weight * row[group.places[place++]];
        values[field].push_back(value);
      }
    }
    group.rows[field].clear();
  }
  on_root(communicator_, [&] {
    std::vector<double> times;
    for (const std::int64_t step : group.steps) times.push_back(static_cast<double>(step) * config_.time.dt);
    file_->write(number, group.steps.front() / group.file.every, group.steps, times, values);
  });
  group.steps.clear();
}

}  // namespace spsolve
