// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/sparse/mma_shape.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve::testing {

/// Holds a random stencil with its name: 1D to 3D, radius 1 to 8, star, box, scattered or lopsided, with
/// weights of any sign. In 3D the radius is limited to the given one, except for stars.
struct ZooStencil {
  Stencil stencil;
  std::string name;
};

inline ZooStencil random_zoo_stencil(std::mt19937_64& random, std::int64_t max_in_space = 3) {
  const auto between = [&](std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random);
  };
  const int dimensions = static_cast<int>(between(1, 3));
  const int kind = static_cast<int>(between(0, 3));
  // A box of radius 8 in 3D has 4913 taps. Radius 3 is large enough for most rules there.
  const std::int64_t radius = between(1, dimensions == 3 && kind != 0 ? max_in_space : 8);
  Index3 extent{1, 1, 1}, center{};
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) {
    extent[axis] = kind == 3 ? between(1, 2 * radius + 1) : 2 * radius + 1;
    center[axis] = kind == 3 ? between(0, extent[axis] - 1) : radius;
  }
  std::uniform_real_distribution<double> weight(-1.0, 1.0);
  std::vector<double> weights;
  for (const Index3& p : points_of(box_of(extent))) {
    int off_axes = 0;
    for (int axis = 0; axis < axis_count; ++axis) off_axes += p[axis] != center[axis];
    const bool used = kind == 0 ? off_axes <= 1 : kind == 2 ? between(0, 2) == 0 || off_axes == 0 : true;
    weights.push_back(used ? std::copysign(0.01 + std::abs(weight(random)), weight(random)) : 0.0);
  }
  constexpr const char* kinds[]{"star", "box", "scattered", "lopsided"};
  return {Stencil(extent, weights, center),
          std::string(kinds[kind]) + std::to_string(dimensions) + "d" + std::to_string(radius) + "r"};
}

/// Returns a tile of at most 16 outputs with the dimensions of the stencil, with even extent along x if
/// `even_x`.
inline Index3 random_tile(std::mt19937_64& random, const Stencil& stencil, bool even_x) {
  constexpr std::int64_t most = mma_rows;
  Index3 tile{1, 1, 1};
  std::int64_t left = most;
  for (int axis = x_axis; axis >= 0; --axis) {
    const std::int64_t unit = axis == x_axis && even_x ? 2 : 1;
    if (axis != x_axis && tap_box(stencil).extent()[axis] == 1) continue;
    tile[axis] =
        unit * std::uniform_int_distribution<std::int64_t>(1, std::max<std::int64_t>(1, left / unit))(random);
    left /= tile[axis];
  }
  return tile;
}

/// Returns the extent of the taps along x.
inline int row_width(const Stencil& stencil) { return static_cast<int>(tap_box(stencil).extent()[x_axis]); }

}  // namespace spsolve::testing
