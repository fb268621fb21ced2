// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "io/field_form.hpp"
#include "kernels/operator/filled_face.hpp"

namespace spsolve {

/// Describes a wall whose ghost points are filled before every step: a face of [boundary] with another
/// condition than "periodic", "neumann" and { dirichlet = number }.
struct WallConfig {
  WallCondition condition = WallCondition::dirichlet;
  double robin = 0;  // h of { robin = { h, value } }, per length
  /// `value` is a formula of the coordinates along the face, t, dt, step and constants; or a dataset of the
  /// shape of the face.
  FieldForm value = ExpressionForm{"0"};

  friend bool operator==(const WallConfig&, const WallConfig&) = default;
};

/// Holds walls by axis {z, y, x} and side {low, high}; nothing if Domain::faces describes the wall
/// completely.
using WallsConfig = std::array<std::array<std::optional<WallConfig>, 2>, 3>;

constexpr bool has_walls(const WallsConfig& walls) {
  for (const auto& of_axis : walls)
    for (const auto& wall : of_axis)
      if (wall) return true;
  return false;
}

}  // namespace spsolve
