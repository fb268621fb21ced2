// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scalar_case.hpp"

namespace spsolve::cuda {

/// One step of a whole grid.
struct StepCase {
  testing::ShapeCase shape;
  BoundaryKind high;  // faces; `shape` has the low ones
  std::array<bool, 3> symmetric{};

  testing::RandomCase problem() const {
    testing::RandomCase random = make_problem(shape, symmetric);
    for (auto& faces : random.domain.faces)
      if (faces[low].kind != periodic) faces[spsolve::high].kind = high;
    return random;
  }
  KernelStencil stencil() const { return {problem().domain, problem().stencil, shape.precision, true}; }
  Formats formats() const { return {shape.precision, true, true}; }

  std::string_view name() const { return shape.name; }
  std::string constants() const { return constants_text(stencil(), formats(), nullptr); }
};

inline const StepCase step_cases[] = {
    {{"box", {9, 11, 13}, {2, 2, 2}, false, neumann, fp32}, dirichlet},
    {{"thin", {5, 4, 17}, {3, 5, 6}, true, dirichlet, fp64}, neumann},
    {{"box_in_loops", {9, 10, 12}, {4, 4, 4}, false, neumann, tf32}, neumann},
    {{"folded", {7, 19, 23}, {1, 1, 1}, false, neumann, fp64}, neumann, {true, true, true}},
    {{"plane", {1, 23, 31}, {0, 2, 3}, false, dirichlet, fp32}, neumann},
    {{"torus", {6, 7, 8}, {1, 2, 1}, false, periodic, fp32}, periodic},
};

}  // namespace spsolve::cuda
