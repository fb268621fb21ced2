// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels/cpu_unit.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// A grid, the radius and shape of a stencil with random weights, and walls of one kind on all faces.
struct ShapeCase {
  const char* name;
  Index3 shape, radius;
  bool star;
  BoundaryKind walls;
  Precision precision;
};
/// Random weights, mirrored along the axes given, a random field and source.
inline RandomCase make_problem(const ShapeCase& c, const std::array<bool, 3>& symmetric = {}) {
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
    Index3 image = p;  // mirror images share a weight
    for (int axis = 0; axis < axis_count; ++axis)
      if (symmetric[axis]) image[axis] = c.radius[axis] + std::abs(offset[axis]);
    const std::int64_t k = (image[0] * extent[1] + image[1]) * extent[2] + image[2];
    weights[i++] = c.star && off_axis > 1 ? 0.0 : random[static_cast<std::size_t>(k)] / 8;
  });
  problem.stencil = Stencil(extent, weights, c.radius);
  problem.u = problem.uniform(volume(c.shape));
  problem.source = problem.uniform(volume(c.shape));
  return problem;
}

/// A host field of the whole grid with a halo for `steps` steps on periodic axes. Beside walls there is no
/// halo at all, or one of NaN that the unit must not read.
inline Field whole_grid(const RandomCase& problem, Precision precision, int steps,
                        const std::vector<double>& values, bool halo_beside_walls) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Index3 halo = steps * problem.stencil.radius();
  Index3 margin = halo;
  for (int axis = 0; axis < axis_count; ++axis)
    if (!problem.domain.periodic(axis)) {
      margin[axis] = 0;
      if (!halo_beside_walls) halo[axis] = 0;
    }
  Field field(problem.domain.box(), halo, precision);
  set_points(field, field.allocated(), problem.domain, std::vector<double>(values.size(), nan));
  set_points(field, grow(problem.domain.box(), margin), problem.domain, values);
  return field;
}

/// `steps` steps of a field of the whole grid by the CPU unit.
inline std::vector<double> advance_on_cpu(const RandomCase& problem, Precision precision, int steps,
                                          const std::vector<double>& values) {
  const Precision sums = precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  const Field source = whole_grid(problem, sums, steps, problem.source, true);
  Field in = whole_grid(problem, precision, steps, values, true);
  Field out = whole_grid(problem, precision, steps, values, true);
  const CpuUnit unit(problem.domain, problem.stencil, precision, &source);
  Box rows = in.allocated();
  for (const int axis : {z_axis, y_axis})
    if (!problem.domain.periodic(axis)) rows.begin[axis] = 0, rows.end[axis] = problem.domain.shape[axis];
  unit.fill_ghosts(in, rows);
  unit.advance(in, out, problem.domain.box(), steps);
  return points_of(out, problem.domain.box());
}

}  // namespace spsolve::testing
