// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/tile_points.hpp"

#include <algorithm>
#include <compare>
#include <set>

#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// Describes the work on one value of a thread; its order is that of events. Threads are counted among all
/// threads of a launch; a value is a bit of PointEvent::values.
struct ValueEvent {
  std::int64_t thread;
  int turn;
  short group, statement;
  int value, column;

  /// Returns true if one PointEvent can hold this event and the one before. A point may be recorded twice.
  bool continues(const ValueEvent& before) const {
    return thread == before.thread && turn == before.turn && group == before.group &&
           statement == before.statement && value != before.value;
  }
  friend auto operator<=>(const ValueEvent&, const ValueEvent&) = default;
};

/// Holds numbers of tiles along an axis: [begin, end).
struct TileRange {
  std::int64_t begin, end;
};

/// Finds the threads that compute a point.
class PointPlacer {
 public:
  PointPlacer(const HostArguments& arguments, const FusedTile& fused)
      : a_(arguments), fused_(fused), blocks_of_tile_(static_cast<std::size_t>(a_.shares.tiles)) {
    for (int block = 0; block < blocks(); ++block) {
      const TilePlanes planes = tile_planes(a_.shares, a_.region, block);
      blocks_of_tile_[static_cast<std::size_t>(planes.tile)].push_back({block, planes});
    }
  }

  int blocks() const { return a_.shares.blocks(); }

  /// Adds the work on a point (in kernel axes) in all tiles, or only in the tile that stores the point.
  /// `event` has the group, statement and column.
  void add(const std::array<std::int64_t, 3>& p, bool in_all_tiles, const ValueEvent& event,
           std::vector<ValueEvent>& events) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (!in_all_tiles && (p[axis] < a_.region.begin[axis] || p[axis] >= a_.region.end[axis])) return;
    const std::int64_t row = p[1] - a_.region.begin[1], column = p[2] - a_.first_column;
    const TileRange rows =
                        tiles(row, in_all_tiles ? fused_.margin(1) : 0, fused_.useful_rows(), a_.row_tiles),
                    columns = tiles(column, in_all_tiles ? fused_.margin(2) : 0, fused_.useful_columns,
                                    a_.column_tiles);
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        add_in_tile(p[0], row - i * fused_.useful_rows() + fused_.margin(1),
                    column - j * fused_.useful_columns + fused_.margin(2), i * a_.column_tiles + j,
                    in_all_tiles, event, events);
  }

 private:
  struct BlockOfTile {
    std::int64_t number;
    TilePlanes planes;
  };

  /// Returns the tiles whose stored part, with a margin, holds a place.
  static TileRange tiles(std::int64_t place, std::int64_t margin, std::int64_t useful, std::int64_t count) {
    return {std::max<std::int64_t>(0, floor_div(place - margin, useful)),
            std::min(count, floor_div(place + margin, useful) + 1)};
  }

  /// Adds the events in one tile, in which the point has a row and a column.
  void add_in_tile(std::int64_t plane, std::int64_t row, std::int64_t column, std::int64_t number,
                   bool in_all_tiles, ValueEvent event, std::vector<ValueEvent>& events) const {
    const SystemTile& tile = fused_.tile;
    if (row < 0 || row >= tile.rows() || column < 0 || column >= tile.columns) return;
    const std::int64_t thread =
        row / tile.rows_of_thread * (tile.columns / tile.columns_of_thread) + column / tile.columns_of_thread;
    event.value = static_cast<int>(row % tile.rows_of_thread * tile.columns_of_thread +
                                   column % tile.columns_of_thread);
    for (const auto& [block, planes] : blocks_of_tile_[static_cast<std::size_t>(number)]) {
      for (int level = 1; level <= fused_.steps; ++level) {
        const std::int64_t around = in_all_tiles ? (fused_.steps - level) * fused_.reach[0] : 0;
        if (plane < planes.begin - around || plane >= planes.end + around) continue;
        // Iteration 0 of level 1 computes the plane margin(0) + warm_up() before the first plane that is
        // stored.
        const std::int64_t iteration =
            plane - planes.begin + fused_.margin(0) + tile.warm_up() + (level - 1) * fused_.lag();
        event.turn = static_cast<int>(iteration * fused_.steps + level - 1);
        event.thread = block * tile.threads() + thread;
        events.push_back(event);
      }
    }
  }

  const HostArguments& a_;
  const FusedTile& fused_;
  std::vector<std::vector<BlockOfTile>> blocks_of_tile_;
};

/// Returns the iterations in which threads of blocks have events, by block.
std::vector<std::set<int>> iterations_of(const std::vector<ValueEvent>& events, const FusedTile& fused,
                                         std::int64_t blocks) {
  std::vector<std::set<int>> iterations(static_cast<std::size_t>(blocks));
  for (const ValueEvent& of : events)
    iterations[static_cast<std::size_t>(of.thread / fused.tile.threads())].insert(of.turn / fused.steps);
  return iterations;
}

}  // namespace

TilePointList tile_points(const PointTable& table, const HostArguments& arguments, const FusedTile& fused,
                          const std::array<int, 3>& axes, const std::vector<int>& fields) {
  const PointPlacer placer(arguments, fused);
  std::vector<ValueEvent> events;
  const auto place = [&](const FieldPoint& point, int group, std::size_t column) {
    const auto s = std::ranges::find(fields, static_cast<int>(point.field)) - fields.begin();
    placer.add({point.p[axes[0]], point.p[axes[1]], point.p[axes[2]]}, group < 0,
               {0, 0, static_cast<short>(group), static_cast<short>(s), 0, static_cast<int>(column)}, events);
  };
  for (const AddedPoint& point : table.added) place(point.at, -1, point.column);
  for (std::size_t group = 0; group < table.recorded.size(); ++group)
    for (std::size_t column = 0; column < table.recorded[group].points.size(); ++column)
      place(table.recorded[group].points[column], static_cast<int>(group), column);
  // A value is recorded after an amount has been added to it: amounts have the least group.
  std::ranges::sort(events);
  TilePointList list;
  for (const std::set<int>& of_block : iterations_of(events, fused, placer.blocks())) {
    list.first_iteration.push_back(static_cast<int>(list.iterations.size()));
    list.iterations.insert(list.iterations.end(), of_block.begin(), of_block.end());
    list.iterations.push_back(no_turn);
  }
  const PointEvent last{no_turn, 0, 0, 0};
  list.first.resize(static_cast<std::size_t>(placer.blocks() * fused.tile.threads()), 0);
  list.events.push_back(last);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const ValueEvent& of = events[i];
    if (i == 0 || of.thread != events[i - 1].thread) {
      if (i > 0) list.events.push_back(last);
      list.first[static_cast<std::size_t>(of.thread)] = static_cast<int>(list.events.size());
    }
    if (i == 0 || !of.continues(events[i - 1]))
      list.events.push_back(
          {of.turn, 0, of.group * (1 << 16) + of.statement, static_cast<int>(list.columns.size())});
    list.events.back().values |= 1u << of.value;
    list.columns.push_back(of.column);
  }
  list.events.push_back(last);
  return list;
}

}  // namespace spsolve::cuda
