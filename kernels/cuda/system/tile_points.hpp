// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/cuda/system/system_program.hpp"
#include "kernels/points/point_work.hpp"

namespace spsolve::cuda {

/// Lists the work of the threads of a launch of march_steps.cuh on points. PointEvents describes the tables.
struct TilePointList {
  std::vector<int> first_iteration, iterations;  // those of a block, then no_turn
  std::vector<int> first;
  std::vector<PointEvent> events;  // those of a thread, then one of no_turn
  std::vector<int> columns;
};

/// Returns the work of the threads of a launch with these arguments on the points of a table. Amounts are
/// added wherever a tile computes a point on a level that stored values depend on, in the margins of tiles
/// and in halos, too. Values are recorded where they are stored. Kernel axis k is axis axes[k] of the grid;
/// `fields[s]` is the field of statement s.
TilePointList tile_points(const PointTable& table, const HostArguments& arguments, const FusedTile& fused,
                          const std::array<int, 3>& axes, const std::vector<int>& fields);

}  // namespace spsolve::cuda
