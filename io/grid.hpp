// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/domain.hpp"

namespace spsolve {

/// The global grid with its place in space: point p lies at origin + p * spacing on each axis.
struct Grid {
  Domain domain;
  std::array<double, 3> spacing{1.0, 1.0,
                                1.0};           // {z, y, x}, any unit of length; absent axes keep the default
  std::array<double, 3> origin{0.0, 0.0, 0.0};  // {z, y, x}, coordinates of point {0, 0, 0}

  friend bool operator==(const Grid&, const Grid&) = default;
};

}  // namespace spsolve
