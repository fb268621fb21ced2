// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"

namespace spsolve {

/// Names the effect of a wall on the field. Layers of ghost points are numbered from the wall on: layer 0 is
/// the first. A ghost value is scale * (the value mirrored at the face) + factor * c, with c of the point of
/// the face.
enum class WallCondition {
  dirichlet,  // ghost points hold c: a wall one spacing beyond the outermost points
  value,      // the field is c at the face, half a spacing beyond: 2c - mirrored
  flux,       // the derivative along the outward normal is c
  robin,      // the derivative along the outward normal is robin * (c - field at the face)
};

/// Describes a face of BoundaryKind::filled of one field.
struct FilledFace {
  int field = 0, axis = 0;
  Side side = low;
  WallCondition condition = WallCondition::flux;
  double spacing = 1, robin = 0;
  /// Writes c at the points `first`, `first` + 1, ... along line_axis() for the time level `step`. The points
  /// lie in the face; their index along `axis` is ignored. Points beyond the ends of the face may be asked
  /// for. Several threads call the function at once. If it is null, c is 0.
  std::function<void(const Index3& first, std::int64_t step, std::span<double> values)> values = {};
  bool varies_along_face = true;  // else c is the same at all points of the face
  bool varies_in_time = true;     // else c is the same at all time levels

  /// Return the axes along the face: the axis of the lines on which c is asked for, and the slower one.
  int line_axis() const { return axis == x_axis ? y_axis : x_axis; }
  int slow_axis() const { return axis == z_axis ? y_axis : z_axis; }

  /// Computes c on a line as `values` does, for every face.
  void evaluate(const Index3& first, std::int64_t step, std::span<double> line) const {
    if (!values) {
      std::ranges::fill(line, 0.0);
    } else if (varies_along_face) {
      values(first, step, line);
    } else {
      values(first, step, line.first(1));
      std::ranges::fill(line, line.front());
    }
  }

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
  /// Returns the distance from a ghost point of a layer to its mirror image.
  double distance(std::int64_t layer) const { return static_cast<double>(2 * layer + 1) * spacing; }
};

/// Returns a filled face as a Face, if c is one finite number and the condition is one of Face: dirichlet,
/// value, or no flux, which is neumann.
inline std::optional<Face> as_plain_face(const FilledFace& face) {
  if (face.values && (face.varies_along_face || face.varies_in_time)) return {};
  double c = 0;
  face.evaluate({}, 0, {&c, 1});
  if (!std::isfinite(c)) return {};
  if (face.condition == WallCondition::dirichlet) return Face{BoundaryKind::dirichlet, c};
  if (face.condition == WallCondition::value) return Face{BoundaryKind::value, c};
  if (face.scale(0) == 1 && face.factor(0) * c == 0) return Face{BoundaryKind::neumann};
  return {};
}

/// Returns the walls of a field with plain faces in place of those `filled` faces that as_plain_face() knows.
inline Domain with_plain_faces(Domain walls, std::span<const FilledFace> filled, int field) {
  for (const FilledFace& face : filled) {
    if (face.field != field) continue;
    if (const auto plain = as_plain_face(face)) walls.faces[face.axis][face.side] = *plain;
  }
  return walls;
}

/// Returns true if ghost points beyond a face mirror points of `known`, a box of points of the grid.
inline bool touches(const Domain& domain, const Box& known, int axis, Side side) {
  return side == low ? known.begin[axis] <= 0 : known.end[axis] >= domain.shape[axis];
}

/// Returns the points beside which ghost points beyond the faces of `axis` are filled where `known` is known:
/// known points and, beyond earlier axes in the order x, y, z, the ghost points in `allocated`. The extent
/// along `axis` is one.
inline Box face_section(const Domain& domain, const Box& allocated, const Box& known, int axis) {
  Box section = known;
  for (int earlier = axis + 1; earlier < axis_count; ++earlier) {
    if (domain.periodic(earlier)) continue;
    if (touches(domain, known, earlier, low)) section.begin[earlier] = allocated.begin[earlier];
    if (touches(domain, known, earlier, high)) section.end[earlier] = allocated.end[earlier];
  }
  section.begin[axis] = 0;
  section.end[axis] = 1;
  return section;
}

}  // namespace spsolve
