// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of systems of equations. Both the host compiler and NVRTC read this
// file: it uses no library types.

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/cuda/points/point_arguments.hpp"

namespace spsolve::cuda {

/// Limit the arrays that a group of statements reads and writes, and the scalars of a system.
constexpr int max_system_arrays = 96, max_system_scalars = 64;

constexpr int point_planes = 4;  // planes of a block of point_group.cuh where rows are long

/// Describes what a block of a march computes: planes [begin, end) of a tile. Tiles are numbered along x
/// first.
struct TilePlanes {
  int tile;
  int group;  // index of the group of blocks with the same planes; a group keeps pace
  int begin, end;
};

/// Returns what a block of a march over `region` computes.
constexpr TilePlanes tile_planes(const MarchShares& shares, const Region& region, int block) {
  const MarchPart part = shares.part(block);
  const int slab = part.piece / shares.tiles,
            first = static_cast<int>(region.begin[0]) + slab * shares.planes, end = first + part.end;
  return {part.piece % shares.tiles, part.stretch < 0 ? slab : shares.slabs() + part.stretch,
          first + part.begin, end < region.end[0] ? end : static_cast<int>(region.end[0])};
}

/// Names what a read beyond a face of an array finds: memory (halos, ghost points that are filled before the
/// step, and coefficients everywhere), one value, or the reflection of the array.
enum class Beyond { memory, value, reflection };

/// Describes an array that a group of statements reads or writes, in kernel axes. Point p lies at data[p[0] *
/// stride[0] + p[1] * stride[1] + p[2]]; `data` is where the point {0, 0, 0} lies or would lie.
struct SystemArray {
  TensorMap map;  // march on sm_90: of an input, for boxes of a plane around a tile
  void* data;
  long long stride[2];
  // These bound the points that have memory if the array is read, in x as whole chunks of 16 bytes. For a
  // march they exclude points beyond walls where copies fill zeros. If the array is written, they bound the
  // box of the statement.
  long long begin[3], end[3];
  int lead;  // march: columns of a tile in shared memory before the first that the tile computes
};

/// Limits the groups of recorded points that the arguments hold themselves, because reading them from memory
/// takes longer.
constexpr int few_groups = 4;
constexpr int no_turn = 0x7fffffff;  // after the last event of a thread, and the last iteration of a block

/// Describes work of a thread of march_steps.cuh on values of a statement as soon as they are computed: it
/// adds amounts, or records the values.
struct alignas(16) PointEvent {
  int turn;          // iteration * steps + level - 1
  unsigned values;   // bit (row * columns of a thread + column)
  int what;          // 2^16 * group + statement; group -1: amounts are added, others: points are recorded
  int first_column;  // where the columns of the amounts or recorded values begin, in the order of the bits
};

/// Holds the points that a launch of several steps works on.
struct PointEvents {
  const int* first_iteration;  // by block; null: there are no points
  const int* iterations;       // iterations in which any thread of a block has events, in their order
  const int* first;            // by block and thread, its first event
  const PointEvent* events;    // events of a thread follow one another, in the order of turns
  const int* event_columns;    // columns of the values of events
  const void* amounts;         // in compute precision: those of the first step, by column, then of the others
  long long columns;           // amounts of a step
  const RecordedGroup* groups;
  RecordedGroup first_groups[few_groups];
  unsigned step;  // the step that the launch begins with
};

/// Holds the arguments of one launch of a group: the arrays that it reads, then those that it writes. Scalars
/// are rounded to the compute type. A kernel knows the number of arrays; the host reserves room for the
/// largest number.
template <int arrays>
struct SystemArguments {
  Region region;           // the points at which any statement is computed
  Region inner;            // the part of the region where every read finds a point of the grid or of a halo
  long long shape[3];      // extent of the global grid
  long long first_column;  // march: first column of the first tile
  int column_tiles,
      row_tiles;       // march: along x, and along the rows; points: parts of a row, 0 for short rows
  MarchShares shares;  // march: the tiles and planes of its blocks
  // Counts, for each wave and group of blocks of a march, the blocks that have requested the planes of an
  // iteration, by iteration, and then the blocks that have ended. All counters are zero between launches.
  // Blocks do not wait for one another if the pointer is null.
  unsigned* arrivals;
  int resident;  // paced march: blocks that run at the same time, a wave
  double scalars[max_system_scalars];
  PointEvents points;  // march of several steps
  SystemArray array[arrays];
};

}  // namespace spsolve::cuda
