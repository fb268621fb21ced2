// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/domain.hpp"

namespace spsolve {

/// What a wall does to the field. Layers of ghost points are numbered from the wall on: layer 0 is the first.
/// A ghost value is scale * (the value mirrored at the face) + factor * c, with c of the point of the face.
enum class WallCondition {
  dirichlet,  // ghost points hold c: a wall one spacing beyond the outermost points
  value,      // the field is c at the face, half a spacing beyond: 2c - mirrored
  flux,       // the derivative along the outward normal is c
  robin,      // the derivative along the outward normal is robin * (c - field at the face)
};

/// A face of BoundaryKind::filled of one field.
struct FilledFace {
  int field = 0, axis = 0;
  Side side = low;
  WallCondition condition = WallCondition::flux;
  double spacing = 1, robin = 0;
  /// Gives c at the points `first`, `first` + 1, ... along x for the level of time `step`. The points lie in
  /// the face; their index along `axis` has no meaning. For faces across x it is one point. Points beyond the
  /// ends of the face may be asked for. Several threads call it at once. Null: c is 0.
  std::function<void(const Index3& first, std::int64_t step, std::span<double> values)> values = {};

  double scale(std::int64_t layer) const {
    switch (condition) {
      case WallCondition::dirichlet:
        return 0;
      case WallCondition::value:
        return -1;
      case WallCondition::flux:
        return 1;
      case WallCondition::robin:
        break;
    }
    const double a = robin * distance(layer) / 2;
    return (1 - a) / (1 + a);
  }
  double factor(std::int64_t layer) const {
    switch (condition) {
      case WallCondition::dirichlet:
        return 1;
      case WallCondition::value:
        return 2;
      case WallCondition::flux:
        return distance(layer);
      case WallCondition::robin:
        break;
    }
    const double a = robin * distance(layer) / 2;
    return 2 * a / (1 + a);
  }

 private:
  /// From a ghost point to its mirror image.
  double distance(std::int64_t layer) const { return static_cast<double>(2 * layer + 1) * spacing; }
};

}  // namespace spsolve
