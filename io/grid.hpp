// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "io/walls_config.hpp"
#include "kernels/domain.hpp"

namespace spsolve {

/// Holds the global grid with its position in space: point p lies at origin + p * spacing on each axis.
struct Grid {
  Domain domain;
  /// `spacing` is {z, y, x} in any unit of length; absent axes keep the default.
  std::array<double, 3> spacing{1.0, 1.0, 1.0};
  std::array<double, 3> origin{0.0, 0.0, 0.0};  // {z, y, x}, coordinates of point {0, 0, 0}
  WallsConfig walls{};                          // the values of the filled faces of the domain

  /// Returns the coordinate of a point with this index, which may lie beyond the faces.
  double coordinate(int axis, std::int64_t index) const {
    return origin[axis] + static_cast<double>(index) * spacing[axis];
  }

  friend bool operator==(const Grid&, const Grid&) = default;
};

constexpr std::array<const char*, 3> axis_names{"z", "y", "x"};

/// Takes the values of points along x, the first at `begin` (global index).
using ValueSink = std::function<void(const Index3& begin, std::span<const double> values)>;

}  // namespace spsolve
