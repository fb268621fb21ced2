// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scalar_case.hpp"

namespace spsolve::cuda {

using Walls = std::array<BoundaryKind, 2>;  // low and high

/// A launch of several steps of a grid without rows.
struct StepsCase {
  testing::ShapeCase shape;
  int steps;
  Walls y, x;
  std::array<bool, 3> symmetric{};

  testing::RandomCase problem() const {
    testing::RandomCase random = make_problem(shape, symmetric);
    for (const Side side : {low, high}) {
      random.domain.faces[y_axis][side].kind = y[side];
      random.domain.faces[x_axis][side].kind = x[side];
    }
    return random;
  }
  KernelStencil stencil() const { return {problem().domain, problem().stencil, shape.precision, true}; }
  Formats formats() const { return {shape.precision, true, true}; }

  std::string_view name() const { return shape.name; }
  std::string constants() const { return constants_text(stencil(), formats(), nullptr); }
};

inline const StepsCase steps_cases[] = {
    {{"plate", {1, 61, 83}, {0, 2, 2}, true, neumann, fp32}, 9, {neumann, neumann}, {dirichlet, dirichlet}},
    {{"mixed", {1, 41, 37}, {0, 2, 1}, false, neumann, fp64}, 4, {neumann, dirichlet}, {dirichlet, neumann}},
    {{"thin", {1, 3, 29}, {0, 4, 2}, false, neumann, tf32}, 3, {neumann, neumann}, {periodic, periodic}},
    {{"thin_mixed", {1, 31, 3}, {0, 1, 5}, false, neumann, fp64},
     5,
     {periodic, periodic},
     {neumann, dirichlet}},
    {{"box", {1, 53, 61}, {0, 3, 3}, false, neumann, fp32},
     3,
     {dirichlet, neumann},
     {neumann, neumann},
     {0, 1, 1}},
    {{"torus", {1, 47, 43}, {0, 1, 3}, false, periodic, fp32}, 5, {periodic, periodic}, {periodic, periodic}},
};

}  // namespace spsolve::cuda
