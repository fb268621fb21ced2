// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace spsolve {

/// Holds a point or an extent, slowest axis first: {z, y, x}. A 2D grid has extent 1 in z; a 1D grid has
/// extent 1 in z and y.
using Index3 = std::array<std::int64_t, 3>;

constexpr int axis_count = 3;
constexpr int z_axis = 0, y_axis = 1, x_axis = 2;

constexpr std::int64_t volume(const Index3& extent) { return extent[0] * extent[1] * extent[2]; }

constexpr Index3 operator+(const Index3& a, const Index3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
constexpr Index3 operator-(const Index3& a, const Index3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
constexpr Index3 operator*(std::int64_t s, const Index3& a) { return {s * a[0], s * a[1], s * a[2]}; }

/// Describes a half-open box of grid points [begin, end) in global coordinates; a box with an extent <= 0 is
/// empty.
struct Box {
  Index3 begin{};
  Index3 end{};

  friend constexpr bool operator==(const Box&, const Box&) = default;

  constexpr Index3 extent() const { return end - begin; }
  constexpr bool empty() const { return end[0] <= begin[0] || end[1] <= begin[1] || end[2] <= begin[2]; }
  constexpr std::int64_t points() const { return empty() ? 0 : volume(extent()); }
};

/// Returns the box of an array of `shape` whose first point is {0, 0, 0}.
constexpr Box box_of(const Index3& shape) { return {{0, 0, 0}, shape}; }
/// Returns the box with `margin` more points on both sides of each axis.
constexpr Box grow(const Box& box, const Index3& margin) { return {box.begin - margin, box.end + margin}; }

/// Returns the points that both boxes have; the result may have negative extents if there are none.
constexpr Box intersect(const Box& a, const Box& b) {
  Box common;
  for (int axis = 0; axis < axis_count; ++axis) {
    common.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    common.end[axis] = std::min(a.end[axis], b.end[axis]);
  }
  return common;
}

/// Return true if all points of a box, or a point, lie in a box.
constexpr bool contains(const Box& outer, const Box& inner) {
  return inner.empty() || intersect(outer, inner) == inner;
}
constexpr bool contains(const Box& box, const Index3& p) { return contains(box, {p, p + Index3{1, 1, 1}}); }

/// Returns the smallest box that holds `box` and the point `p`.
constexpr Box hull(Box box, const Index3& p) {
  if (box.empty()) return {p, p + Index3{1, 1, 1}};
  for (int axis = 0; axis < axis_count; ++axis) {
    box.begin[axis] = std::min(box.begin[axis], p[axis]);
    box.end[axis] = std::max(box.end[axis], p[axis] + 1);
  }
  return box;
}

/// Returns true if an array of this shape has at least one and at most `limit` elements. The product of the
/// extents may overflow, so it is never computed.
template <class Shape>
constexpr bool has_volume_within(const Shape& shape, std::int64_t limit) {
  for (const std::int64_t n : shape) limit = n > 0 ? limit / n : 0;
  return limit > 0;
}

/// Converts between a point of an array of `extent` and its index in C order (x fastest).
constexpr std::int64_t index_of(const Index3& p, const Index3& extent) {
  return (p[0] * extent[1] + p[1]) * extent[2] + p[2];
}
constexpr Index3 point_of(std::int64_t index, const Index3& extent) {
  return {index / (extent[1] * extent[2]), index / extent[2] % extent[1], index % extent[2]};
}
/// Rows of a box lie along x and are numbered in C order, y before z. row_begin() returns the first point of
/// a row.
constexpr std::int64_t row_count(const Box& box) {
  return box.empty() ? 0 : box.extent()[z_axis] * box.extent()[y_axis];
}
constexpr Index3 row_begin(const Box& box, std::int64_t row) {
  const std::int64_t rows = box.end[1] - box.begin[1];
  return box.begin + Index3{row / rows, row % rows, 0};
}

/// Calls visit(point) for every point of a box, x fastest.
template <class Visit>
constexpr void for_each_point(const Box& box, Visit&& visit) {
  for (std::int64_t z = box.begin[z_axis]; z < box.end[z_axis]; ++z)
    for (std::int64_t y = box.begin[y_axis]; y < box.end[y_axis]; ++y)
      for (std::int64_t x = box.begin[x_axis]; x < box.end[x_axis]; ++x) visit(Index3{z, y, x});
}

/// Calls visit(slab) for up to six disjoint boxes whose union is `outer` without `inner`. `inner` must lie
/// inside `outer`.
template <class Visit>
constexpr void for_each_slab(const Box& outer, const Box& inner, Visit&& visit) {
  if (inner.empty()) {
    if (!outer.empty()) visit(outer);
    return;
  }
  Box rest = outer;
  for (int axis = 0; axis < axis_count; ++axis) {
    Box low = rest, high = rest;
    low.end[axis] = inner.begin[axis];
    high.begin[axis] = inner.end[axis];
    if (!low.empty()) visit(low);
    if (!high.empty()) visit(high);
    rest.begin[axis] = inner.begin[axis];
    rest.end[axis] = inner.end[axis];
  }
}

}  // namespace spsolve
