// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shape_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace spsolve::testing {

RandomCase make_stencil_of(const ShapeCase& c, const std::array<bool, 3>& symmetric) {
  RandomCase problem(7);
  problem.domain = {c.shape[0] > 1 ? 3 : c.shape[1] > 1 ? 2 : 1, c.shape, {}};
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis)
    problem.domain.faces[axis] = {Face{c.walls, 0.25 + axis}, Face{c.walls, -0.5}};
  const Index3 extent = 2 * c.radius + Index3{1, 1, 1};
  const std::vector<double> random = problem.uniform(volume(extent));
  std::vector<double> weights(random.size());
  std::size_t i = 0;
  for_each_point(box_of(extent), [&](const Index3& p) {
    const Index3 offset = p - c.radius;
    const auto off_axis = std::count_if(offset.begin(), offset.end(), [](auto k) { return k != 0; });
    Index3 reflected = p;  // offsets and their reflections share a weight
    for (int axis = 0; axis < axis_count; ++axis)
      if (symmetric[axis]) reflected[axis] = c.radius[axis] + std::abs(offset[axis]);
    const auto k = static_cast<std::size_t>(index_of(reflected, extent));
    weights[i++] = c.star && off_axis > 1 ? 0.0 : random[k] / 8;
  });
  problem.stencil = Stencil(extent, weights, c.radius);
  return problem;
}

RandomCase make_problem(const ShapeCase& c, const std::array<bool, 3>& symmetric) {
  RandomCase problem = make_stencil_of(c, symmetric);
  problem.u = problem.uniform(volume(c.shape));
  problem.source = problem.uniform(volume(c.shape));
  return problem;
}

}  // namespace spsolve::testing
