// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wall_reflections.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace spsolve::testing {

ReflectedPoint reflected_point(const Domain& domain, Index3 p) {
  ReflectedPoint reflected{p};
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t n = domain.shape[axis];
    std::int64_t& i = reflected.point[axis];
    if (domain.periodic(axis)) i = wrap(i, n);
    while (i < 0 || i >= n) {
      const Face& face = domain.faces[axis][i < 0 ? low : high];
      const std::int64_t ghost = i < 0 ? -1 : n;
      if (face.kind != BoundaryKind::dirichlet) {
        i = (i < 0 ? -1 : 2 * n - 1) - i;
        if (face.kind == BoundaryKind::neumann) continue;
        reflected.offset += reflected.scale * 2 * face.value;
        reflected.scale = -reflected.scale;
      } else if (i == ghost) {
        i = i < 0 ? 0 : n - 1;
        reflected.offset += reflected.scale * face.value;
        reflected.scale = 0;
      } else {
        i = 2 * ghost - i;
        reflected.offset += reflected.scale * 2 * face.value;
        reflected.scale = -reflected.scale;
      }
    }
  }
  return reflected;
}

std::vector<FilledFace> fill_value_faces(Domain& domain) {
  std::vector<FilledFace> filled;
  if (!domain.has_faces(BoundaryKind::value)) return filled;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    for (const Side side : {low, high}) {
      if (domain.periodic(axis)) continue;
      Face& face = domain.faces[axis][side];
      FilledFace wall{0, axis, side};
      if (face.kind == BoundaryKind::dirichlet) wall.condition = WallCondition::dirichlet;
      if (face.kind == BoundaryKind::value) wall.condition = WallCondition::value;
      wall.values = [value = face.value](const Index3&, std::int64_t, std::span<double> values) {
        std::ranges::fill(values, value);
      };
      wall.varies_along_face = wall.varies_in_time = false;
      filled.push_back(std::move(wall));
      face = {BoundaryKind::filled};
    }
  return filled;
}

RandomCase with_symmetric_weights(RandomCase problem, int largest_radius, bool with_value_faces) {
  Index3 radius{};
  const double value = problem.between(0, 1) ? 0.0 : 0.375;
  const auto valued = problem.between(0, 1) ? problem.between(0, 2) : axis_count;
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis) {
    problem.domain.shape[axis] += 4;
    radius[axis] = problem.between(1, largest_radius);
    for (Face& face : problem.domain.faces[axis]) {
      if (face.kind != BoundaryKind::dirichlet) continue;
      if (with_value_faces && problem.between(0, 2))
        face.kind = BoundaryKind::value;
      else
        radius[axis] = 1;
      if (valued == axis_count)
        face.value = value;
      else if (valued != axis)
        face = {BoundaryKind::neumann};
    }
  }
  const Index3 extent = 2 * radius + Index3{1, 1, 1};
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  double sum = 0;
  for_each_point(box_of(extent), [&](Index3 p) {
    const auto i = static_cast<std::size_t>(index_of(p, extent));
    for (int axis = 0; axis < axis_count; ++axis) p[axis] = std::min(p[axis], extent[axis] - 1 - p[axis]);
    const auto first = static_cast<std::size_t>(index_of(p, extent));
    weights[i] = first < i ? weights[first] : std::abs(problem.uniform(1)[0]);
    sum += weights[i];
  });
  if (valued == axis_count && value == 0)
    sum *= 1.25;  // walls of value 0 are the only ones for which the
                  // sum does not matter
  for (double& weight : weights) weight /= sum;
  problem.stencil = Stencil(extent, weights, radius);
  problem.u = problem.uniform(problem.domain.box().points());
  problem.source = problem.uniform(problem.domain.box().points());
  return problem;
}

}  // namespace spsolve::testing
