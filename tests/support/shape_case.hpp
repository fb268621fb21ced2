// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "tests/support/whole_grid.hpp"

namespace spsolve::testing {

/// Holds a grid, the radius and shape of a stencil with random weights, and walls of one kind on all faces.
struct ShapeCase {
  const char* name;
  Index3 shape, radius;
  bool star;
  BoundaryKind walls;
  Precision precision;
};

/// Makes a domain, and random weights that are symmetric along the given axes. The field and the source are
/// empty.
inline RandomCase make_stencil_of(const ShapeCase& c, const std::array<bool, 3>& symmetric = {}) {
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

/// Adds a random field and a source to make_stencil_of().
inline RandomCase make_problem(const ShapeCase& c, const std::array<bool, 3>& symmetric = {}) {
  RandomCase problem = make_stencil_of(c, symmetric);
  problem.u = problem.uniform(volume(c.shape));
  problem.source = problem.uniform(volume(c.shape));
  return problem;
}

}  // namespace spsolve::testing
