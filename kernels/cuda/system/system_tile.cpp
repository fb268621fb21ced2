// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/system_tile.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr int max_threads = 1024;  // threads of a block

InputRing ring_of(const GroupInput& input, const SystemTile& tile, int element_bytes,
                  const std::array<bool, 3>& ghosts) {
  InputRing ring;
  int column_low = 0, column_high = 0;  // planes of reads at the column of the point itself
  int other_low = 0, other_high = 0;    // planes of all other reads
  bool has_column = false, has_other = false;
  for (const auto& offset : input.offsets) {
    for (int axis = 0; axis < 3; ++axis) {
      ring.low[axis] = std::min(ring.low[axis], offset[axis]);
      ring.high[axis] = std::max(ring.high[axis], offset[axis]);
    }
    const bool at_column = offset[row_axis] == 0 && offset[column_axis] == 0;
    int& low = at_column ? column_low : other_low;
    int& high = at_column ? column_high : other_high;
    bool& has = at_column ? has_column : has_other;
    low = has ? std::min(low, offset[plane_axis]) : offset[plane_axis];
    high = has ? std::max(high, offset[plane_axis]) : offset[plane_axis];
    has = true;
  }
  // If planes are read on one side of the point's own plane only, the ring need not reach that plane.
  ring.low[plane_axis] = std::min(has_column ? column_low : other_low, has_other ? other_low : column_low);
  ring.high[plane_axis] =
      std::max(has_column ? column_high : other_high, has_other ? other_high : column_high);
  const int newest = ring.high[plane_axis];
  ring.first_plane = has_other ? other_low : newest;
  if (has_column && column_low < ring.first_plane) ring.queue = newest - ring.low[plane_axis] + 1;
  ring.depth = newest - ring.first_plane + 1 + tile.ahead;
  // A ghost point beyond the high face reflects a point that lies as far inside the face.
  for (const int axis : {row_axis, column_axis})
    if (ghosts[axis]) ring.low[axis] = std::min(ring.low[axis], 1 - ring.high[axis]);
  ring.rows = tile.rows() + ring.high[row_axis] - ring.low[row_axis];
  const int sector = sector_bytes / element_bytes;
  // Tiles begin at sectors of fields. Rows of coefficients may begin anywhere in a sector.
  const int before =
      input.is_coefficient ? -ring.low[column_axis] + sector - 1 : round_up(-ring.low[column_axis], sector);
  ring.pitch = round_up(before + tile.columns + ring.high[column_axis], sector);
  ring.plane_bytes = round_up(ring.rows * ring.pitch * element_bytes, box_alignment);
  return ring;
}

/// Returns how many planes before or after that of a point a group reads.
int plane_reach(const SystemGroup& group) {
  int reach = 0;
  for (const GroupInput& input : group.inputs) reach = std::max(reach, reach_of(input)[plane_axis]);
  return reach;
}

}  // namespace

SystemTile tile_of(int columns, int thread_rows, int rows_of_thread, int ahead, int blocks, int pace_lag) {
  SystemTile tile;
  tile.columns = columns;
  tile.thread_rows = thread_rows;
  tile.rows_of_thread = rows_of_thread;
  tile.ahead = ahead;
  tile.blocks = blocks;
  tile.pace_lag = pace_lag;
  return tile;
}

SystemTile given_tile(const std::vector<int>& numbers) {
  SystemTile tile;
  tile.columns = numbers.at(0);
  tile.thread_rows = numbers.at(1);
  tile.rows_of_thread = numbers.at(2);
  tile.ahead = numbers.at(3);
  tile.blocks = numbers.at(4);
  tile.pace_lag = numbers.at(5);
  if (numbers.size() > 6) tile.columns_of_thread = numbers[6];
  if (numbers.size() > 7) tile.level_0_in_ring = numbers[7] != 0;
  return tile;
}

std::vector<int> numbers_of(const SystemTile& tile) {
  return {tile.columns, tile.thread_rows, tile.rows_of_thread,    tile.ahead,
          tile.blocks,  tile.pace_lag,    tile.columns_of_thread, tile.level_0_in_ring};
}

int SystemTile::warm_up() const {
  int most = 0;
  for (const InputRing& ring : rings) most = std::max(most, ring.warm_up());
  return most;
}

double as_stored(double value, Precision precision) {
  return with_storage(precision, [&]<class Storage>() { return stored_value(to_storage<Storage>(value)); });
}

bool has_zero_walls(const Domain& domain, int axis, Precision precision) {
  return std::ranges::all_of(domain.faces[axis], [&](const Face& face) {
    const double value = as_stored(face.value, precision);
    return face.kind == BoundaryKind::dirichlet && value == 0 && !std::signbit(value);
  });
}

void lay_out(SystemTile& tile, const SystemGroup& group, Precision precision, const GhostAxes& ghosts) {
  constexpr int ghost_warps = 3;
  tile.rings.clear();
  tile.ghost_warps = 0;
  tile.shared_bytes = barrier_bytes;
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    const GroupInput& input = group.inputs[i];
    const auto element =
        static_cast<int>(storage_bytes(input.is_coefficient ? sum_precision(precision) : precision));
    InputRing ring = ring_of(input, tile, element, ghosts[i]);
    for (const int axis : {row_axis, column_axis})
      if (ghosts[i][axis] && (ring.low[axis] < 0 || ring.high[axis] > 0)) tile.ghost_warps = ghost_warps;
    ring.offset = tile.shared_bytes;
    tile.shared_bytes += ring.depth * ring.plane_bytes;
    tile.rings.push_back(ring);
  }
}

bool fits(const SystemTile& tile, const BlockLimits& limits) {
  constexpr int of_block = 1024;  // bytes of a block that CUDA reserves
  if (tile.ahead > max_ahead || tile.all_threads(limits) > max_threads) return false;
  for (const InputRing& ring : tile.rings)
    if (limits.copy_engine() && std::max(ring.rows, ring.pitch) > max_box_extent) return false;
  return tile.shared_bytes + (tile.blocks > 1 ? of_block : 0) <=
         static_cast<int>(limits.shared_bytes) / tile.blocks;
}

std::optional<SystemTile> choose_tile(const SystemGroup& group, int dimensions, Precision precision,
                                      const GhostAxes& ghosts, const BlockLimits& limits) {
  if (dimensions == 1 || group.inputs.empty()) return {};
  // The largest tiles come first, because they read the least halo.
  std::vector<SystemTile> tiles;
  const int wide = precision == Precision::fp64 ? 64 : 128, thread_rows = 512 / wide;
  if (dimensions == 2) {
    // Iterations of steps that read far take longer, and more blocks hide their latency; other steps are
    // slower with more blocks (docs/log/systems.md).
    if (plane_reach(group) >= wide_reach) tiles.push_back(tile_of(224, 1, 1, max_ahead, 3, 1));
    for (const int ahead : {4, 2, 1}) tiles.push_back(tile_of(192, 1, 1, ahead, 2, 1));
  } else
    for (const int rows : {32, 24, 16, 8})
      for (const int ahead : {2, 1})
        if (rows % thread_rows == 0)
          tiles.push_back(tile_of(wide, thread_rows, rows / thread_rows, ahead, 1, std::min(ahead, 2)));
  for (SystemTile& tile : tiles) {
    lay_out(tile, group, precision, ghosts);
    if (fits(tile, limits)) return tile;
  }
  return {};
}

}  // namespace spsolve::cuda
