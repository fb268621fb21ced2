// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/cuda/system/system_tile.hpp"
#include "kernels/domain.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/operator/filled_face.hpp"
#include "kernels/operator/system_facts.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {

/// Describes what a march of several steps (march_steps.cuh) holds of the levels of one statement, level 0
/// excepted.
struct LevelRings {
  int input = -1;               // the input that reads the field of the statement as it is now
  bool is_read_before = false;  // a step reads `.previous` of the field
  int low = 0;                  // offset of the oldest plane that is read at the column of a point
  int begin_low = 0;            // with split sums: offset of the oldest plane that begun sums read
  int rows = 0, columns = 0;    // rows and columns of a plane, beside those of all threads
  int stored_rows = 0;          // rows that a thread stores: all of them, or those that other threads read
  int pitch = 0;                // length of a row in elements; 0: nothing is read from shared memory
  int plane_bytes = 0;
  int offset = 0;      // bytes in shared memory, of the planes of level 1; those of other levels follow
  int old_offset = 0;  // bytes in shared memory, of a thread's own values that wait for `.previous`
};

/// Describes a tile of a march that takes several steps. Tiles overlap: every level is computed on the whole
/// `tile`, and the part without the margins is stored. A warp computes points of one row.
struct FusedTile {
  int steps = 2;
  SystemTile tile;                 // with the rings of the inputs
  std::array<int, 3> reach{};      // how far a step reads, in kernel axes
  int useful_columns = 0;          // columns that are stored: whole sectors of memory
  std::vector<LevelRings> levels;  // by statement
  /// Counts the planes of a level in shared memory: level_lag() + rows_behind, or one more. With the
  /// additional plane, warps wait for each other once per iteration instead of twice.
  int level_planes = 2;
  bool splits = false;  // sums are begun before they are finished (SplitGroup)
  int sums = 0;         // sums that are begun at a point
  int kept = 0;         // values that a level keeps of a plane for the next (KeptGroup)
  int taken = 0;        // values that threads take from their neighbours in a row (KeptGroup)
  /// Other rows are read in this many planes after that of a point, and before it.
  int rows_ahead = 0, rows_behind = 0;
  /// Counts the planes of level 0 that wait for `.previous` in shared memory although sums still read them.
  int moved_planes = 0;

  int operations = 0;     // of all statements at a point, without those of values that are kept or taken
  bool reflects = false;  // there are reflecting walls along rows or columns
  /// Is true if threads find values beyond reflecting walls among the points at the walls, which they hold or
  /// have stored themselves. A step may then read at most one row and one column away.
  bool mirrors = false;
  /// Holds the faces of BoundaryKind::filled. Memory holds the ghost points of level 0. Other levels compute
  /// ghost points from the points that these mirror, so a face must have one value everywhere and at all
  /// times.
  std::vector<FilledFace> filled;
  bool has_points = false;  // launches add amounts to points and record values (tile_points.hpp)

  /// Returns by how many planes a level is behind the level before. A thread reads planes further along the
  /// march at its own points only, which it has just computed; all other planes were computed by earlier
  /// iterations.
  int lag() const { return std::max({1, reach[0], rows_ahead + 1}); }
  /// Returns after how many iterations other threads read the plane of a level that a thread stores. Split
  /// sums begin with the newest plane.
  int level_lag() const { return splits ? 1 : lag(); }
  /// Returns the offsets of the oldest plane and of the newest one that a thread holds of a level of
  /// statement `s`, from the plane that the next level finishes.
  int oldest(int level, const LevelRings& of) const;
  int newest(int level, const LevelRings& of) const;
  /// Returns the number of points on either side of a tile that are not stored. Along a row it is a multiple
  /// of the points of a thread.
  int margin(int axis) const {
    const int margin = (steps - 1) * reach[axis];
    return axis == 2 ? round_up(margin, tile.columns_of_thread) : margin;
  }
  int useful_rows() const { return tile.rows() - 2 * margin(1); }
  /// Returns the statements whose values one step before the last are also stored, in the order of fields.
  std::vector<int> written_before(const std::vector<int>& fields_of_statements) const;
  /// Returns the number of values of all levels that a thread holds per point from one iteration to the next.
  int held() const;
  /// Returns true if a level keeps values. Level 1 keeps none if it reads all planes from rings.
  bool keeps(int level) const { return kept > 0 && (level > 1 || !tile.level_0_in_ring); }
  /// Returns the number of iterations of a march beyond one for each plane that it stores.
  int warm_up() const { return tile.warm_up() + 2 * margin(0) + (steps - 1) * (lag() - reach[0]); }
  /// Returns the registers of threads that compute and of all other threads, if these numbers differ.
  struct Registers {
    int computing = 0, helping = 0;
  };
  Registers registers(const BlockLimits& limits) const;
};

/// Returns the fastest tile in the model (fused_cycles()) for `steps` steps of all statements of a system in
/// one launch that fits on the device, on the grid of `fields`, which also holds the walls of each field; or
/// the tile of the shape `given`. There is no tile for `.previous` of other points, for `.next` more than one
/// point beyond a reflecting wall, or if registers and shared memory do not suffice.
OrNoKernel<FusedTile> fused_tile(const Canonical& canonical, const SystemFacts& facts,
                                 const std::vector<Domain>& fields, Precision precision, int steps,
                                 const BlockLimits& limits, const std::optional<SystemTile>& given = {},
                                 const std::vector<FilledFace>& filled = {});

/// Returns all tiles from which fused_tile() takes the first, for a system without filled faces.
OrNoKernel<std::vector<FusedTile>> fused_tiles(const Canonical& canonical, const SystemFacts& facts,
                                               const std::vector<Domain>& fields, Precision precision,
                                               int steps, const BlockLimits& limits);

/// Returns true if a tile fits on the device, its values fit in registers, and it stores any points.
bool fits_fused(const FusedTile& fused, Precision precision, const BlockLimits& limits);

/// Gives the bandwidth of copies, in bytes/s read and written, of the device to whose rates the model of
/// tiles was fitted.
constexpr double fitted_bandwidth = 3.0e12;

/// Returns the clock cycles of a launch on a grid that the model predicts: whole waves of blocks, whose
/// iterations take as long as their instructions and their memory traffic. `memory_speed` is the bandwidth of
/// copies divided by fitted_bandwidth. Tiles are chosen with memory_speed 1, so that plans and units choose
/// the same tiles.
double fused_cycles(const FusedTile& tile, const Domain& grid, Precision precision, const BlockLimits& limits,
                    double memory_speed = 1);

}  // namespace spsolve::cuda
