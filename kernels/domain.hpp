// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/box.hpp"

namespace spsolve {

/// Names the condition at a face of the grid.
enum class BoundaryKind {
  periodic,   // wrap: numpy.pad "wrap"
  dirichlet,  // ghost points hold `value`: numpy.pad "constant"
  neumann,    // zero normal gradient, reflected about the face (d c b a | a b c d | d c b a): numpy.pad
              // "symmetric"
  value,      // the field is `value` at the face: ghost points hold 2 value - the reflected point. Only
              // memory with reflections (Domain::reflected) has such ghost points
  filled,     // memory holds the ghost points, which are filled before every step
              // (kernels/operator/filled_face.hpp)
};

/// Holds the names in the order of BoundaryKind. Inputs name the condition of a filled face instead.
inline constexpr std::array<std::string_view, 5> boundary_names{"periodic", "dirichlet", "neumann", "value",
                                                                "filled"};
/// Holds the names of conditions that single fields have without equations.
inline constexpr std::array<std::string_view, 3> plain_boundary_names{"periodic", "dirichlet", "neumann"};
constexpr std::string_view to_string(BoundaryKind kind) {
  return boundary_names[static_cast<std::size_t>(kind)];
}
/// Returns the condition with one of plain_boundary_names, and nothing for any other name.
constexpr std::optional<BoundaryKind> parse_boundary(std::string_view name) {
  for (std::size_t kind = 0; kind < plain_boundary_names.size(); ++kind)
    if (plain_boundary_names[kind] == name) return static_cast<BoundaryKind>(kind);
  return {};
}

/// Holds the condition of one face.
struct Face {
  BoundaryKind kind = BoundaryKind::periodic;
  double value = 0.0;  // of dirichlet and value

  /// Returns true if the condition sets a value, so that reflections about the face are odd apart from it.
  constexpr bool has_value() const { return kind == BoundaryKind::dirichlet || kind == BoundaryKind::value; }
  friend bool operator==(const Face&, const Face&) = default;
};

enum Side { low = 0, high = 1 };

/// Describes the global grid and its boundary conditions. Ghost points are defined axis by axis in the order
/// x, y, z: a later axis covers the corners (docs/internals/numerics.md). An axis is periodic on both faces
/// or on neither.
struct Domain {
  int dimensions = 3;     // 1: x, 2: y x, 3: z y x; unused axes have extent 1, are periodic and have radius 0
  Index3 shape{1, 1, 1};  // points
  std::array<std::array<Face, 2>, 3> faces{};  // [axis][side]
  /// Marks wall axes beyond whose faces memory holds reflections of the field (kernels/wall_reflections.hpp),
  /// filled like the periodic copies.
  std::array<bool, 3> reflected{};

  friend bool operator==(const Domain&, const Domain&) = default;

  constexpr bool periodic(int axis) const { return faces[axis][low].kind == BoundaryKind::periodic; }
  constexpr bool has_walls() const { return !periodic(z_axis) || !periodic(y_axis) || !periodic(x_axis); }
  constexpr bool has_faces(BoundaryKind kind) const {
    for (const auto& of_axis : faces)
      for (const Face& face : of_axis)
        if (face.kind == kind) return true;
    return false;
  }
  /// Returns true if ghost points beyond some face are filled into memory.
  constexpr bool has_filled_faces() const { return has_faces(BoundaryKind::filled); }
  /// Returns true if memory holds periodic copies beyond the faces of `axis`. Axes in `wraps` have none:
  /// kernels wrap indices there instead.
  constexpr bool has_periodic_copies(int axis, const std::array<bool, 3>& wraps) const {
    return periodic(axis) && !wraps[axis];
  }
  constexpr int first_axis() const { return axis_count - dimensions; }
  constexpr Box box() const { return box_of(shape); }
  /// Returns the part of `box` that does not lie beyond a wall.
  constexpr Box clip_to_walls(Box box) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (!periodic(axis)) {
        box.begin[axis] = std::max<std::int64_t>(box.begin[axis], 0);
        box.end[axis] = std::min(box.end[axis], shape[axis]);
      }
    return box;
  }
  /// Returns the part of `box` that is at least `reach` points away from every wall without reflections. The
  /// result is empty if nothing is left.
  constexpr Box away_from_walls(Box box, const Index3& reach) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (!periodic(axis) && !reflected[axis]) {
        box.begin[axis] = std::max(box.begin[axis], reach[axis]);
        box.end[axis] = std::min(box.end[axis], shape[axis] - reach[axis]);
      }
    return box.empty() ? Box{} : box;
  }
};

/// Returns the point of [0, n) that point i reflects to about the faces, at any distance from the grid
/// (period 2n).
constexpr std::int64_t reflect(std::int64_t i, std::int64_t n) {
  const std::int64_t period = 2 * n;
  const std::int64_t folded = ((i % period) + period) % period;
  return folded < n ? folded : period - 1 - folded;
}

/// Returns i modulo n, in [0, n).
constexpr std::int64_t wrap(std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; }

}  // namespace spsolve
