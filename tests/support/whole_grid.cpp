// SPDX-License-Identifier: Apache-2.0
#include "tests/support/whole_grid.hpp"

#include <algorithm>
#include <limits>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reduction.hpp"

namespace spsolve::testing {
namespace {

/// Returns the rows of a whole-grid field that hold points of the grid or periodic copies.
Box known_rows(const RandomCase& problem, const Field& field) {
  Box rows = problem.domain.clip_to_walls(field.allocated());
  rows.begin[x_axis] = field.allocated().begin[x_axis];
  rows.end[x_axis] = field.allocated().end[x_axis];
  return rows;
}

}  // namespace

Field whole_grid(const RandomCase& problem, Precision precision, int steps, const std::vector<double>& values,
                 bool halo_beside_walls, const std::array<bool, 3>& wraps, std::int64_t first_column) {
  Index3 halo = steps * problem.stencil.radius();
  for (int axis = 0; axis < axis_count; ++axis)
    if (wraps[axis] || (!halo_beside_walls && !problem.domain.periodic(axis))) halo[axis] = 0;
  Box owned = problem.domain.box();
  owned.begin[x_axis] = first_column;
  if (first_column > 0) halo[x_axis] = std::max(halo[x_axis], steps * problem.stencil.radius()[x_axis]);
  Field field(owned, halo, precision);
  const std::vector<double> poison(values.size(), std::numeric_limits<double>::quiet_NaN());
  set_points(field, field.allocated(), problem.domain, poison);
  set_points(field, problem.domain.clip_to_walls(field.allocated()), problem.domain, values);
  HostReducer().raise_magnitude_bound(field, owned);
  return field;
}

std::vector<double> advance_whole_grid(const RandomCase& problem, const Unit& unit, Precision precision,
                                       int steps, const std::vector<double>& values,
                                       const std::vector<Box>& regions) {
  Field in = whole_grid(problem, precision, steps, values);
  Field out = whole_grid(problem, precision, steps,
                         std::vector<double>(values.size(), std::numeric_limits<double>::quiet_NaN()));
  unit.fill_ghosts(in, known_rows(problem, in));
  for (const Box& region : regions) unit.advance(in, out, region, steps);
  return points_of(out, problem.domain.box());
}

std::vector<double> advance_on_cpu(const RandomCase& problem, Precision precision, int steps,
                                   const std::vector<double>& values, const std::vector<Box>& regions) {
  const Field source = whole_grid(problem, sum_precision(precision), steps, problem.source);
  const CpuUnit unit(problem.domain, problem.stencil, precision, &source);
  return advance_whole_grid(problem, unit, precision, steps, values, regions);
}

std::vector<double> advance_on_cpu(const RandomCase& problem, Precision precision, int steps,
                                   const std::vector<double>& values) {
  return advance_on_cpu(problem, precision, steps, values, {problem.domain.box()});
}

}  // namespace spsolve::testing
