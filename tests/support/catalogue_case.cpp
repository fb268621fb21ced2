// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catalogue_case.hpp"

namespace spsolve::testing {

RandomCase catalogue_case(const CatalogueEntry& entry) {
  RandomCase problem(entry.name.size());
  problem.stencil = entry.stencil;
  problem.domain = {entry.dimensions, {1, 1, 1}, {}};
  const Index3 extents = entry.dimensions == 3 ? Index3{5, 11, 13} : Index3{1, 23, 37};
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis)
    problem.domain.shape[axis] = extents[axis];
  if (entry.dimensions > 1)
    problem.domain.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
  problem.u = problem.uniform(problem.domain.box().points());
  problem.source = problem.uniform(problem.domain.box().points());
  return problem;
}

}  // namespace spsolve::testing
