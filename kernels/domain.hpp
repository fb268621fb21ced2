// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/box.hpp"

namespace spsolve {

enum class BoundaryKind {
  periodic,   // wrap: numpy.pad "wrap"
  dirichlet,  // ghost points hold `value`: numpy.pad "constant"
  neumann,    // zero normal gradient, mirrored about the face (d c b a | a b c d | d c b a): numpy.pad
              // "symmetric"
};

/// In the order of BoundaryKind.
inline constexpr std::array<std::string_view, 3> boundary_names{"periodic", "dirichlet", "neumann"};
constexpr std::string_view to_string(BoundaryKind kind) {
  return boundary_names[static_cast<std::size_t>(kind)];
}
constexpr std::optional<BoundaryKind> parse_boundary(std::string_view name) {
  for (std::size_t kind = 0; kind < boundary_names.size(); ++kind)
    if (boundary_names[kind] == name) return static_cast<BoundaryKind>(kind);
  return {};
}

struct Face {
  BoundaryKind kind = BoundaryKind::periodic;
  double value = 0.0;  // dirichlet only

  friend bool operator==(const Face&, const Face&) = default;
};

enum Side { low = 0, high = 1 };

/// The global grid and what lies outside it. Ghost points are defined axis by axis in the order x, y, z: a
/// later axis covers the corners (docs/design.md). An axis is periodic on both faces or on none.
struct Domain {
  int dimensions = 3;     // 1: x, 2: y x, 3: z y x; absent axes have extent 1, are periodic and have radius 0
  Index3 shape{1, 1, 1};  // points
  std::array<std::array<Face, 2>, 3> faces{};  // [axis][side]
  /// Axes beyond whose walls memory holds images (kernels/wall_images.hpp), as it does on periodic ones.
  std::array<bool, 3> mirrored{};

  friend bool operator==(const Domain&, const Domain&) = default;

  constexpr bool periodic(int axis) const { return faces[axis][low].kind == BoundaryKind::periodic; }
  constexpr bool has_walls() const { return !periodic(z_axis) || !periodic(y_axis) || !periodic(x_axis); }
  /// Whether memory holds periodic images beyond the faces across an axis: not of those of `repeats`, beyond
  /// whose ends kernels find the points at the others.
  constexpr bool has_images(int axis, const std::array<bool, 3>& repeats) const {
    return periodic(axis) && !repeats[axis];
  }
  constexpr int first_axis() const { return axis_count - dimensions; }
  constexpr Box box() const { return box_of(shape); }
  /// `box` without what lies beyond walls.
  constexpr Box clip_to_walls(Box box) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (!periodic(axis)) {
        box.begin[axis] = std::max<std::int64_t>(box.begin[axis], 0);
        box.end[axis] = std::min(box.end[axis], shape[axis]);
      }
    return box;
  }
  /// `box` without what lies within `reach` points of walls without images; empty where nothing is left.
  constexpr Box away_from_walls(Box box, const Index3& reach) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (!periodic(axis) && !mirrored[axis]) {
        box.begin[axis] = std::max(box.begin[axis], reach[axis]);
        box.end[axis] = std::min(box.end[axis], shape[axis] - reach[axis]);
      }
    return box.empty() ? Box{} : box;
  }
};

/// Where the mirror image of point i lies in [0, n), for any distance from the grid (period 2n).
constexpr std::int64_t mirror(std::int64_t i, std::int64_t n) {
  const std::int64_t period = 2 * n;
  const std::int64_t folded = ((i % period) + period) % period;
  return folded < n ? folded : period - 1 - folded;
}

/// i modulo n in [0, n).
constexpr std::int64_t wrap(std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; }

}  // namespace spsolve
