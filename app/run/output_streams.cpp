// SPDX-License-Identifier: Apache-2.0
#include "app/run/output_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/run/values_beyond_format.hpp"
#include "app/setup/planning.hpp"
#include "io/field_rows.hpp"

namespace spsolve {
namespace {

/// Returns the axes that files of a stream have: all axes of the grid except those along which the region is
/// a single coordinate. A file has one axis at least.
std::vector<int> axes_of(const OutputStreamConfig& stream, const Domain& domain) {
  std::vector<int> axes;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (const auto& range = stream.region[axis]; !range || (*range)[0] != (*range)[1]) axes.push_back(axis);
  if (axes.empty()) axes.push_back(x_axis);
  return axes;
}

/// Returns the region as a grid of its own, with the points of the whole grid. Sampling it with the stride
/// gives the points of the stream.
Grid grid_of(const OutputStreamConfig& stream, const Box& region, const std::vector<int>& axes,
             const Grid& whole) {
  Grid grid;
  grid.domain.dimensions = static_cast<int>(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int from = axes[i], to = axis_count - static_cast<int>(axes.size() - i);
    grid.domain.shape[to] = (region.extent()[from] - 1) * stream.stride + 1;
    grid.spacing[to] = whole.spacing[from];
    grid.origin[to] = whole.coordinate(from, region.begin[from] * stream.stride);
  }
  return grid;
}

}  // namespace

std::vector<std::size_t> chosen_fields(const Problem& problem, const std::vector<std::string>& names) {
  std::vector<std::size_t> fields;
  for (std::size_t field = 0; field < problem.field_count(); ++field)
    if (names.empty() || std::ranges::find(names, problem.field_name(field)) != names.end())
      fields.push_back(field);
  return fields;
}

OutputStreams::OutputStreams(const FileCommunicators& of_files, const Setup& setup, const Terminal& terminal,
                             FileQueue& files, const SnapshotSeries& snapshots)
    : of_files_(of_files), setup_(setup), terminal_(terminal), files_(files) {
  const RunConfig& config = setup.config;
  for (const OutputStreamConfig& given : config.outputs) {
    const Box region = points_of(given, config.grid);
    const std::vector<int> axes = axes_of(given, config.grid.domain);
    streams_.push_back({given, chosen_fields(setup.problem, given.fields), region, axes,
                        grid_of(given, region, axes, config.grid), snapshots.of_stream(given.name)});
  }
}

void OutputStreams::write(std::int64_t step, Block& block, bool rest) {
  const TimeConfig& time = setup_.config.time;
  for (OutputStream& stream : streams_) {
    const bool due = interval_of(stream.config, time.dt).due(step) || step == time.steps;
    if ((due || rest) && stream.written != step) write(stream, step, block);
  }
}

void OutputStreams::write(OutputStream& stream, std::int64_t step, Block& block) {
  stream.written = step;
  files_.make_room(FileQueue::FileKind::snapshot);
  Copies copies;
  for (const std::size_t field : stream.fields)
    copies.push_back(block.view(field).scan(setup_.for_outputs(stream.config)).copy);
  const auto beyond = std::make_shared<ValuesBeyondFormat>(setup_.problem.precision, stream.config.precision);
  beyond->look_at(copies);
  const auto work = [this, &stream, step, beyond](const std::vector<ReadableField>& values,
                                                  const FileTurn& turn) {
    // `placed` replaces the axes of the grid by those of the file.
    const auto placed = [&](const Index3& p) {
      Index3 index{};
      for (std::size_t i = 0; i < stream.axes.size(); ++i)
        index[axis_count - stream.axes.size() + i] = p[stream.axes[i]];
      return index;
    };
    const Box own = intersect(values.front().field->owned(), stream.region);
    Box box;
    if (!own.empty()) {
      box.begin = placed(own.begin - stream.region.begin);
      const Index3 last = placed(own.end - Index3{1, 1, 1} - stream.region.begin);
      box.end = last + Index3{1, 1, 1};
    }
    std::vector<NamedRows> rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const RowSource of_grid = rows_of(values[i], stream.config.precision);
      rows.push_back({setup_.problem.field_name(stream.fields[i]),
                      [&stream, of_grid](const Index3& begin, std::int64_t points, std::byte* out) {
                        Index3 from = stream.region.begin;
                        for (std::size_t k = 0; k < stream.axes.size(); ++k)
                          from[stream.axes[k]] += begin[axis_count - stream.axes.size() + k];
                        const int along = stream.axes.back();
                        if (along == x_axis) return of_grid(from, points, out);
                        for (std::int64_t point = 0; point < points; ++point, ++from[along])
                          of_grid(from, 1, out + point * storage_bytes(stream.config.precision));
                      }});
    }
    Snapshot snapshot{setup_.config.name,
                      step,
                      static_cast<double>(step) * setup_.config.time.dt,
                      stream.grid,
                      stream.config.stride,
                      stream.config.precision,
                      stream.config.name};
    snapshot.compression = stream.config.compression;
    std::ranges::copy(stream.axes, snapshot.axes.end() - std::ssize(stream.axes));
    const Communicator& communicator = of_files_[static_cast<std::size_t>(turn.slot)].get();
    beyond->count_in(communicator, rows);
    write_snapshot(communicator, stream.series, snapshot, box, rows, turn);
    beyond->sum(communicator);
  };
  files_.add(FileQueue::FileKind::snapshot, std::move(copies), work,
             [this, &stream, step, beyond](const std::exception_ptr& failure) {
               if (failure) std::rethrow_exception(failure);
               if (!stream.warned_of_range)
                 stream.warned_of_range = beyond->warn(
                     terminal_, fmt::format("output {} of step {}", stream.config.name, step), "[outputs]");
             });
}

}  // namespace spsolve
