// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue_step.hpp"

#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"

namespace spsolve {

Canonical canonical_of(const CatalogueSystem& system, double dt) {
  StepNames names;
  names.dimensions = system.dimensions;
  names.dt = dt;
  names.fields = system.fields;
  names.coefficients = system.coefficients;
  return canonical_form(resolve_step(parse_step(system.step), names));
}

BoundaryKind recorded_walls(std::string_view letter) {
  return letter == "p"   ? BoundaryKind::periodic
         : letter == "n" ? BoundaryKind::neumann
                         : BoundaryKind::dirichlet;
}

}  // namespace spsolve
