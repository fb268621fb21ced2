// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cpu/block_instruction.hpp"
#include "kernels/operator/canonical.hpp"
#include "kernels/operator/range.hpp"

namespace spsolve {

/// Tells where an operand of a StepProgram lies, and which of its members describe it.
enum class OperandKind : std::uint8_t {
  number,       // `number`
  scalar,       // scalar `index` of the step
  coefficient,  // derived coefficient `index` at the point displaced by `offset`
  field,        // field `index` at `level`, at the point displaced by `offset`
  output,       // field `index` after the step
  slot,         // block `index` of intermediate values
  row,          // row `index` of intermediate values, displaced by `offset` along x
};

/// Describes a value in memory that an instruction reads or writes.
struct ProgramOperand {
  OperandKind kind = OperandKind::number;
  int index = 0;
  Level level = Level::now;
  Index3 offset{};
  double number = 0.0;
  double weight = 0.0;  // weight of a tap
};

/// Holds instructions that run block by block over a row.
struct ProgramStage {
  std::vector<BlockInstruction> instructions;
  std::vector<ProgramOperand> operands;
  int row = -1;  // the row of intermediate values that the stage fills, or -1 for the equations' fields
  Range columns{0, 1};  // columns around each point at which the row is needed
};

/// Holds the stages that compute a row of one or more statements, in order; the last computes the equations.
struct StepProgram {
  std::vector<ProgramStage> stages;
  int slots = 0;
  std::vector<Range> rows;  // columns around each point, for intermediate values
};

/// Translates the statements [first, last) of one group (SystemFacts::groups). Every value is computed by the
/// operations of the canonical form, so it has the bits of canonical_step().
///
/// Values are computed where they are read, block by block in registers, and shared parts are kept in slots.
/// A part that is read at several displacements along x, and costs more to compute again than to load, gets a
/// stage of its own that fills a row.
///
/// `converts` is true if the storage precision of fields differs from the precision of sums. Otherwise a
/// later statement reads the result of an earlier one from a slot.
StepProgram step_program(const Canonical& canonical, int first, int last, bool converts);

}  // namespace spsolve
