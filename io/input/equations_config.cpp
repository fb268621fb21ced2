// SPDX-License-Identifier: Apache-2.0
#include "io/input/equations_config.hpp"

#include <algorithm>
#include <utility>

#include "io/grid.hpp"
#include "io/language/parser.hpp"

namespace spsolve {

std::vector<Domain> domains_of(const EquationsConfig& equations, const Grid& grid) {
  std::vector<Domain> domains(equations.fields.size(), grid.domain);
  for (std::size_t i = 0; i < domains.size(); ++i) {
    domains[i].faces = equations.fields[i].faces;
    if (!domains[i].has_filled_faces()) continue;
    for (int axis = 0; axis < axis_count; ++axis)
      if (!domains[i].periodic(axis))
        for (Face& face : domains[i].faces[axis]) face = {BoundaryKind::filled};
  }
  return domains;
}

StepNames names_of(const EquationsConfig& equations, const Grid& grid, double dt, Stencils stencils) {
  StepNames names{.dimensions = grid.domain.dimensions,
                  .spacing = grid.spacing,
                  .dt = dt,
                  .fields = {},
                  .constants = equations.constants,
                  .stencils = std::move(stencils)};
  for (const FieldConfig& field : equations.fields) names.fields.push_back(field.name);
  for (const CoefficientConfig& coefficient : equations.coefficients)
    names.coefficients.push_back(coefficient.name);
  return names;
}

System system_of(const EquationsConfig& equations, const Grid& grid, double dt, Stencils stencils) {
  return resolve_step(parse_step(equations.step), names_of(equations, grid, dt, std::move(stencils)));
}

std::map<std::string, double, std::less<>> with_dt(std::map<std::string, double, std::less<>> constants,
                                                   double dt) {
  constants["dt"] = dt;
  return constants;
}

bool uses_any(const Syntax& syntax, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(syntax.nodes, [&](const SyntaxNode& node) {
    return node.kind == SyntaxKind::name && std::ranges::find(names, node.text) != names.end();
  });
}

bool uses_any(const std::string& expression, std::initializer_list<std::string_view> names) {
  return uses_any(parse_expression(expression), names);
}

}  // namespace spsolve
