// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "kernels/operator/filled_face.hpp"

namespace spsolve::testing {

/// Returns c of a face as c0 + sin(phase of the point) + cos(phase of the step), with random coefficients.
/// Coordinates repeat along periodic axes.
inline auto random_values(const FilledFace& face, const Domain& domain, std::mt19937& random) {
  std::uniform_real_distribution<double> between(-1, 1);
  return [c0 = between(random), along = face.varies_along_face ? between(random) : 0,
          across = face.varies_along_face ? between(random) : 0,
          in_time = face.varies_in_time ? between(random) : 0, line = face.line_axis(),
          slow = face.slow_axis(), domain](const Index3& first, std::int64_t step, std::span<double> values) {
    const auto coordinate = [&](std::int64_t p, int axis) {
      return static_cast<double>(domain.periodic(axis) ? wrap(p, domain.shape[axis]) : p);
    };
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = c0 +
                  std::sin(along * coordinate(first[line] + static_cast<std::int64_t>(i), line) +
                           across * coordinate(first[slow], slow)) +
                  in_time * std::cos(static_cast<double>(step));
  };
}

/// Makes all faces of a field that are not periodic faces of BoundaryKind::filled, with a random condition
/// and random values, and appends them to `faces`. `field` is the number of the field.
inline void fill_at_random(Domain& domain, int field, std::mt19937& random, std::vector<FilledFace>& faces) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    if (domain.periodic(axis)) continue;
    for (const Side side : {low, high}) {
      domain.faces[axis][side] = {BoundaryKind::filled};
      FilledFace face{field, axis, side, static_cast<WallCondition>(below(4)), 0.75, 0.5 * below(4)};
      face.varies_along_face = below(2) == 0;
      face.varies_in_time = below(2) == 0;
      if (below(5) > 0) face.values = random_values(face, domain, random);
      faces.push_back(std::move(face));
    }
  }
}

}  // namespace spsolve::testing
