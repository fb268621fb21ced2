// SPDX-License-Identifier: Apache-2.0
#include "kernels/wall_growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/reference.hpp"

namespace spsolve {
namespace {

/// Returns true if the weights differ in the two directions of an axis with a neumann wall.
bool leans_on_neumann_wall(const Stencil& stencil, const Domain& domain) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (std::ranges::count(domain.faces[axis], BoundaryKind::neumann, &Face::kind) > 0 &&
        !is_even(stencil, axis))
      return true;
  return false;
}

/// Returns a domain of at most 64 points with the same kinds of walls, whose values are 0.
Domain small_domain(Domain domain) {
  constexpr std::int64_t max_points = 64;
  for (auto& faces : domain.faces)
    for (Face& face : faces) face.value = 0.0;
  while (volume(domain.shape) > max_points) {
    const auto longest = std::ranges::max_element(domain.shape);
    *longest = std::min(max_points, (*longest + 1) / 2);
  }
  return domain;
}

using SquareMatrix = std::vector<double>;  // square, row by row

SquareMatrix matrix_of(const Stencil& stencil, const Domain& domain) {
  const auto n = static_cast<std::size_t>(volume(domain.shape));
  SquareMatrix matrix(n * n);
  for (std::size_t column = 0; column < n; ++column) {
    std::vector<double> unit(n);
    unit[column] = 1.0;
    const std::vector<double> next = reference_step(domain, stencil, unit, nullptr);
    for (std::size_t row = 0; row < n; ++row) matrix[row * n + column] = next[row];
  }
  return matrix;
}

double norm(const SquareMatrix& matrix) {
  return std::sqrt(std::inner_product(matrix.begin(), matrix.end(), matrix.begin(), 0.0));
}

SquareMatrix squared(const SquareMatrix& matrix, std::size_t n) {
  SquareMatrix square(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) square[i * n + j] += matrix[i * n + k] * matrix[k * n + j];
  return square;
}

}  // namespace

double growth_beside_walls(const Stencil& stencil, const Domain& domain) {
  if (!leans_on_neumann_wall(stencil, domain)) return 1.0;
  constexpr int doublings = 14;
  constexpr double rounding = 1e-8;  // rounding of sums of 64 terms, accumulated over 2^14 steps
  const Domain small = small_domain(domain);
  const auto n = static_cast<std::size_t>(volume(small.shape));
  SquareMatrix power = matrix_of(stencil, small);
  double before = norm(power), steps = 1;  // time steps of `power`
  for (int doubling = 0; doubling < doublings; ++doubling, steps *= 2) {
    before = norm(power);
    if (before < 1e-100) return 1.0;  // the field vanishes
    if (!(before < 1e100)) return std::pow(std::min(before, 1e300), 1.0 / steps);
    power = squared(power, n);
  }
  const double ratio = norm(power) / before;
  return ratio > 1.0 + rounding ? std::pow(ratio, 2.0 / steps) : 1.0;
}

Stencil part_of_step(const Stencil& stencil, double part) {
  std::vector<double> weights = dense_weights(stencil);
  for (double& weight : weights) weight *= part;
  const Index3 radius = stencil.radius(), extent = 2 * radius + Index3{1, 1, 1};
  weights[static_cast<std::size_t>(index_of(radius, extent))] += 1.0 - part;
  return Stencil(extent, weights, radius);
}

}  // namespace spsolve
