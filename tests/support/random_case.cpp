// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_case.hpp"

#include <algorithm>
#include <cmath>

namespace spsolve::testing {
namespace {

/// Returns the value of a grid array at a point.
double at(const Domain& domain, const std::vector<double>& values, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis)
    p[axis] = domain.periodic(axis) ? wrap(p[axis], domain.shape[axis])
                                    : std::clamp<std::int64_t>(p[axis], 0, domain.shape[axis] - 1);
  return values[static_cast<std::size_t>(index_of(p, domain.shape))];
}

}  // namespace

RandomCase::RandomCase(std::uint64_t seed, int largest_radius, std::int64_t max_points)
    : random(seed), domain(random_domain(max_points)), stencil(random_stencil(largest_radius)) {
  u = uniform(domain.box().points());
  source = uniform(domain.box().points());
}

std::int64_t RandomCase::between(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

std::vector<double> RandomCase::uniform(std::int64_t count) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<double> values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return value(random); });
  return values;
}

Domain RandomCase::random_domain(std::int64_t max_points) {
  Domain made;
  made.dimensions = static_cast<int>(between(1, 3));
  const double side = std::pow(static_cast<double>(max_points), 1.0 / made.dimensions);
  for (int axis = made.first_axis(); axis < axis_count; ++axis) {
    made.shape[axis] = between(1, static_cast<std::int64_t>(side));
    if (between(0, 2) == 0) continue;  // periodic
    for (Face& face : made.faces[axis])
      face = between(0, 1) ? Face{BoundaryKind::neumann} : Face{BoundaryKind::dirichlet, uniform(1)[0]};
  }
  return made;
}

Stencil RandomCase::random_stencil(int largest_radius) {
  Index3 extent{1, 1, 1}, center{};
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    extent[axis] = between(1, 2 * largest_radius + 1);
    center[axis] = between(0, extent[axis] - 1);
  }
  std::vector<double> weights = uniform(volume(extent));
  if (between(0, 1))  // sparse
    for (double& weight : weights) weight = between(0, 2) ? 0.0 : weight;
  weights.front() += 2.0;  // never all zero
  double sum = 0;
  for (const double weight : weights) sum += std::abs(weight);
  for (double& weight : weights) weight /= sum;
  return Stencil(extent, weights, center);
}

std::string RandomCase::describe() const {
  std::string text = std::to_string(domain.dimensions) + "D";
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    text += std::string(" ") + "zyx"[axis] + "=" + std::to_string(domain.shape[axis]) + "r" +
            std::to_string(stencil.radius()[axis]);
    for (const Face& face : domain.faces[axis]) text += "pdnvf"[static_cast<int>(face.kind)];
  }
  return text + " taps=" + std::to_string(stencil.taps().size());
}

double rounding_bound(const Stencil& stencil, double roundoff, int steps, double largest) {
  double sum = 0;
  for (const Tap& tap : stencil.taps()) sum += std::abs(tap.weight);
  const double per_step =
      (static_cast<double>(stencil.taps().size()) + 2) * roundoff * std::max(sum, 1.0) * largest;
  return steps * per_step * std::pow(std::max(sum, 1.0), steps) * 1.01;
}

double launch_bound(const Stencil& stencil, Precision precision, int steps, double largest) {
  const double sums = precision == Precision::fp64 ? 0x1p-53 : 0x1p-24;
  const double storage = precision == Precision::tf32   ? 2.0 * steps
                         : precision == Precision::fp64 ? 0.0
                                                        : 2.0;
  return rounding_bound(stencil, sums, steps, largest) + 2 * storage * unit_roundoff(precision) * largest +
         2 * steps * unit_roundoff(precision);
}

void set_points(Field& field, const Box& box, const Domain& domain, const std::vector<double>& values) {
  with_storage(field.precision(), [&]<class Storage>() {
    for_each_point(
        box, [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(at(domain, values, p)); });
  });
}

std::vector<Box> random_regions(RandomCase& problem) {
  Box inner = problem.domain.box();
  for (int axis = 0; axis < axis_count; ++axis) {
    inner.begin[axis] = problem.between(0, inner.end[axis] - 1);
    inner.end[axis] = problem.between(inner.begin[axis] + 1, inner.end[axis]);
  }
  std::vector<Box> regions{inner};
  for_each_slab(problem.domain.box(), inner, [&](const Box& slab) { regions.push_back(slab); });
  return regions;
}

}  // namespace spsolve::testing
