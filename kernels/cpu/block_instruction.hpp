// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/operator/operation.hpp"
#include "kernels/operator/range.hpp"

namespace spsolve {

/// Names what an instruction does with the accumulator, which holds a block of points in registers:
/// neighbours of a row, or of the rows of some neighbouring planes. In the comments `m` is the value of the
/// instruction's operand in memory at the same points.
enum class BlockAction : std::uint8_t {
  zero,           // accumulator = -0, to which fma adds a product exactly
  load,           // = m
  load_stored,    // = m, converted from storage
  add,            // = accumulator + m
  subtract,       // = accumulator - m
  subtract_from,  // = m - accumulator
  multiply,
  divide,       // = accumulator / m
  divide_into,  // = m / accumulator
  negate,
  absolute,
  square_root,
  less,  // comparisons of the accumulator with m are 1 or 0
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  select,   // accumulator ? first operand : second operand
  maximum,  // the larger of the accumulator and m; the accumulator if one is NaN
  minimum,
  taps,         // accumulator = fma(weight, m, accumulator) for each operand in turn
  taps_stored,  // with operands converted from storage
  star,    // as taps; the operands are the points of a 3D star in a field, from the lowest to the highest
  save,    // m = accumulator
  output,  // the row of a field = accumulator, converted to storage
  fetch,   // starts to load the values of m for the block after the next
  fetch_stored,
  call,  // last operand = operation(all others), point by point; the accumulator is lost
};

struct BlockInstruction {
  BlockAction action;
  Operation operation = Operation::add;  // what a call computes
  bool bypasses_caches = false;          // an output that is not read again soon
  int first = 0, count = 1;              // operands
};

inline bool is_fetch(const BlockInstruction& instruction) {
  return instruction.action == BlockAction::fetch || instruction.action == BlockAction::fetch_stored;
}

/// Limits the bytes of a block of points in compute precision to eight of the widest registers.
constexpr std::int64_t row_block_bytes = 512;

/// Is the distance between the rows of neighbouring planes in a slot, in bytes: two of the widest registers.
constexpr std::int64_t slot_row_bytes = 128;

/// Holds a list of instructions whose operands have addresses, ready to run on one row, or on the same row of
/// some neighbouring planes.
template <class T>
struct BoundBlocks {
  const BlockInstruction* instructions;
  int count;
  int planes;  // 1 or max_rows
  /// These hold, per operand, the address of its value at x = 0 of the first plane, a mask of x (0 for blocks
  /// that hold the same points whatever x is, else -1), the distances in bytes to its row in the next plane
  /// and to the next row along y, and its weight.
  void* const* at;
  const std::int64_t *mask, *plane_pitch, *pitch;
  const T* weights;
  Range past_caches;  // points of the row that are stored past the caches by outputs that may bypass them
  /// Computes an operation point by point.
  void (*call)(Operation operation, const T* const* operands, int count, int points, T* out);
};

}  // namespace spsolve
