// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/strided_equation.hpp"

#include "kernels/operator/linearity.hpp"
#include "kernels/wall_reflections.hpp"

namespace spsolve {

std::variant<TwoLevelEquation, std::string> strided_equation(const Problem& problem) {
  if (!problem.equations) return "it has no equation with two time levels";
  const Equations& equations = *problem.equations;
  if (problem.has_points) return "point sources or probes are worked on in every step";
  if (equations.canonical.field_count() != 1) return "there are several fields";
  if (problem.has_general_walls())
    return "walls other than periodic, neumann, { dirichlet = 0 } and { value = 0 } are filled";
  const EquationFacts& facts = equations.facts.equations.front();
  if (facts.depends.linearity != Linearity::constant_weights) return "its weights vary, or it is not linear";
  if (facts.depends.has_terms_without_fields) return "it has terms without fields";
  if (auto equation = two_level_equation(equations.canonical)) return *equation;
  return "it is not a sum over the field and the value one step before at the point";
}

Domain stride_domain(const Problem& problem, int steps) {
  const auto equation = std::get<TwoLevelEquation>(strided_equation(problem));
  Domain domain = with_wall_reflections(problem.domain, equation.s, steps, problem.precision);
  for (int axis = 0; axis < axis_count; ++axis)
    for (const Face& face : domain.faces[axis])
      if (face.value != 0)
        domain.reflected[axis] = false;  // the difference would have another value at these walls
  return domain;
}

}  // namespace spsolve
