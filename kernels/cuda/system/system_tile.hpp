// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/system/system_group.hpp"
#include "kernels/domain.hpp"
#include "kernels/precision.hpp"

namespace spsolve::cuda {

constexpr int barrier_bytes = 128;  // shared memory for the barriers of a march
constexpr int box_alignment = 128;  // bytes, of planes that the copy engine writes to shared memory
constexpr int sector_bytes = 32;    // a sector of memory: rows of tiles begin at multiples of it
constexpr int max_ahead = 4;        // planes; each, and the plane in use, has three barriers of 8 bytes
constexpr int wide_reach = 4;       // planes, from which on a step reads far

/// Describes the planes of an input that a march of tiles holds in shared memory, as a ring. Where reads at
/// the column of the point itself in other planes would need a longer ring, they come from registers instead,
/// a queue per point.
struct InputRing {
  std::array<int, 3> low{}, high{};  // offsets of reads in kernel axes, 0 included; beside walls also of what
                                     // ghost points reflect
  int first_plane = 0;      // offset of the oldest plane that is read from the ring; the newest is high[0]
  int depth = 1;            // planes of the ring, those ahead included
  int queue = 0;            // values of a point's column in registers, from low[0] to high[0]; 0: none
  int rows = 1, pitch = 0;  // rows of a plane, and elements from one row to the next
  int lead = 0;             // marches of several steps: columns before the first of the tile
  bool is_coefficient = false;  // marches of several steps: the input is a coefficient
  int offset = 0;               // bytes in shared memory
  int plane_bytes = 0;

  /// Returns how many planes must have been loaded before the first plane is computed.
  int warm_up() const { return high[0] - (queue > 0 ? low[0] : first_plane); }
};

/// Describes a tile of a march: a block of threads computes `columns` x `rows()` points of one plane after
/// the other. Threads lie along x; each takes `rows_of_thread` neighbouring rows, and of each row
/// `columns_of_thread` neighbouring points (1 except in marches of several steps).
struct SystemTile {
  int columns = 128, thread_rows = 4, rows_of_thread = 8, columns_of_thread = 1;
  int ahead = 1;        // planes that are loaded ahead of the one that is computed
  int blocks = 1;       // on one multiprocessor
  int ghost_warps = 0;  // warps that make ghost rows and columns, on devices with a copy engine
  /// Is true if marches of several steps read level 0 from rings instead of holding it in registers.
  bool level_0_in_ring = false;
  int pace_lag = 1;  // iterations: how far blocks may be ahead of the slowest
  std::vector<InputRing> rings;
  int shared_bytes = 0;  // bytes of shared memory; the barriers come first

  int rows() const { return thread_rows * rows_of_thread; }
  /// Returns the number of threads that compute.
  int threads() const { return columns / columns_of_thread * thread_rows; }
  /// Returns true if the warp that computes a tile also loads its planes and computes their ghost points.
  /// Tiles of several warps have additional warps for that, on devices with a copy engine.
  bool loads_itself() const { return threads() == 32; }
  /// Returns the number of all threads: those that compute, one warp that loads, and those for ghost points.
  int all_threads(const BlockLimits& limits) const {
    return threads() + (limits.copy_engine() && !loads_itself() ? 32 * (1 + ghost_warps) : 0);
  }
  int warm_up() const;
};

/// Returns a tile from six to eight numbers: columns, thread_rows, rows_of_thread, ahead, blocks, pace_lag,
/// columns_of_thread and level_0_in_ring, as `bench_systems --tile` takes them and records hold them.
SystemTile given_tile(const std::vector<int>& numbers);
/// Returns these numbers of a tile, all eight.
std::vector<int> numbers_of(const SystemTile& tile);

/// Marks for each input the kernel axes with walls, beyond which its ghost points are made in shared memory.
using GhostAxes = std::vector<std::array<bool, 3>>;

/// Returns a value as a field stores it, in compute precision.
double as_stored(double value, Precision precision);

/// Returns true if both walls of an axis have the value 0 (not -0), as `precision` stores it, so that copies
/// of planes fill the ghost points beyond them.
bool has_zero_walls(const Domain& domain, int axis, Precision precision);

/// Lays out the rings of a tile for a group.
void lay_out(SystemTile& tile, const SystemGroup& group, Precision precision, const GhostAxes& ghosts);

/// Returns true if one multiprocessor has shared memory for as many blocks as the tile asks for, and if the
/// copy engine, where there is one, can copy a plane at once.
bool fits(const SystemTile& tile, const BlockLimits& limits);

/// Returns a tile of this shape, whose shared memory is not laid out yet.
SystemTile tile_of(int columns, int thread_rows, int rows_of_thread, int ahead, int blocks, int pace_lag);

/// Returns the tile for grids of `dimensions` axes that fits on a device. Returns nothing if no tile fits or
/// the grid has one axis.
std::optional<SystemTile> choose_tile(const SystemGroup& group, int dimensions, Precision precision,
                                      const GhostAxes& ghosts, const BlockLimits& limits);

}  // namespace spsolve::cuda
