// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cpu/step_program.hpp"

namespace spsolve {

/// Holds the programs of a group of statements (SystemFacts::groups).
struct StatementGroup {
  int first, last;
  StepProgram joint;                // all statements
  std::vector<StepProgram> single;  // each alone, where there are several
};

}  // namespace spsolve
