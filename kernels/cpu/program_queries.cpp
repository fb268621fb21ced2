// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/program_queries.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace spsolve {

std::vector<ProgramOperand> leading_operands(const StepProgram& program, int stream) {
  std::map<std::tuple<OperandKind, int, Level>, ProgramOperand> leading;
  for (const ProgramStage& stage : program.stages)
    for (const ProgramOperand& operand : stage.operands) {
      const bool is_read = (operand.kind == OperandKind::field && operand.level != Level::next) ||
                           operand.kind == OperandKind::coefficient;
      if (!is_read) continue;
      ProgramOperand& last =
          leading.try_emplace({operand.kind, operand.index, operand.level}, operand).first->second;
      if (operand.offset[stream] > last.offset[stream]) last = operand;
    }
  std::vector<ProgramOperand> result;
  for (const auto& [array, operand] : leading) result.push_back(operand);
  return result;
}

std::int64_t operands_of(const StepProgram& program) {
  std::int64_t count = 0;
  for (const ProgramStage& stage : program.stages)
    for (const BlockInstruction& instruction : stage.instructions)
      if (!is_fetch(instruction)) count += instruction.count;
  return count;
}

bool pays_in_planes(const StepProgram& program) {
  if (!program.rows.empty()) return false;
  std::int64_t of_stars = 0;
  for (const ProgramStage& stage : program.stages)
    for (const BlockInstruction& instruction : stage.instructions)
      if (instruction.action == BlockAction::star) of_stars += instruction.count;
  return 3 * of_stars > 2 * operands_of(program);
}

std::int64_t planes_of(const StepProgram& program, int stream) {
  std::map<std::tuple<OperandKind, int, Level>, Range> planes;
  for (const ProgramStage& stage : program.stages)
    for (const ProgramOperand& operand : stage.operands) {
      if (operand.kind != OperandKind::field && operand.kind != OperandKind::coefficient &&
          operand.kind != OperandKind::output)
        continue;
      const std::int64_t at = operand.offset[stream];
      Range& range =
          planes.try_emplace({operand.kind, operand.index, operand.level}, Range{at, at + 1}).first->second;
      range = {std::min(range.begin, at), std::max(range.end, at + 1)};
    }
  std::int64_t count = 0;
  for (const auto& [array, range] : planes) count += range.end - range.begin;
  return count;
}

std::int64_t planes_of_ring(const SystemFacts& facts, std::size_t field, std::int64_t reach) {
  return 2 * reach + 1 + (facts.reach_previous[field].empty() ? 0 : reach);
}

std::int64_t planes_of(const StepProgram& program, int stream, const SystemFacts& facts, std::int64_t reach,
                       int steps) {
  std::int64_t between = reach * facts.coefficients_read;
  for (std::size_t field = 0; field < facts.reach_previous.size(); ++field)
    between += planes_of_ring(facts, field, reach);
  return planes_of(program, stream) + (steps - 1) * between;
}

}  // namespace spsolve
