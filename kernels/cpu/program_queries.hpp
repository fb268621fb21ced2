// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/step_program.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve {

/// Returns, for every array that a program reads, the operand that lies farthest along `stream`.
std::vector<ProgramOperand> leading_operands(const StepProgram& program, int stream);

/// Returns how many values the instructions of a program load or store for one point.
std::int64_t operands_of(const StepProgram& program);

/// Returns true if the rows of neighbouring planes are better computed together. A star is then read by
/// add_star(), but all other values are spread over as many more rows: systems of which two thirds of the
/// values are points of stars gain, Gray-Scott in 3D (half) loses a tenth (docs/log/cpu.md).
bool pays_in_planes(const StepProgram& program);

/// Returns the number of planes along `stream` that a tile keeps in cache in launches of one step: of every
/// array those that are read at each point, and those that are written.
std::int64_t planes_of(const StepProgram& program, int stream);

/// Returns the number of planes that a launch of several steps keeps of a field at each time level between
/// the first and the last. A step reads `reach` planes on either side. Previous values are read a level
/// later.
std::int64_t planes_of_ring(const SystemFacts& facts, std::size_t field, std::int64_t reach);

/// Returns the number of planes that a tile keeps in cache in launches of `steps` steps: those of one step,
/// the rings of the levels between, and the planes of coefficients that later levels still read.
std::int64_t planes_of(const StepProgram& program, int stream, const SystemFacts& facts, std::int64_t reach,
                       int steps);

}  // namespace spsolve
