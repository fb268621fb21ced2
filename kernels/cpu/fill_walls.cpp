// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/fill_walls.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

namespace spsolve {
namespace {

/// Fills the ghost points of one layer beside a line of a face, from `first` on. `given` holds c on the line.
template <class Storage>
void fill_line(Field& values, const FilledFace& face, std::int64_t layer, const Index3& ghost,
               const Index3& mirrored, std::span<const double> given) {
  using T = Compute<Storage>;
  const T scale = static_cast<T>(face.scale(layer));
  const double factor = face.factor(layer);
  Storage* const to = values.at<Storage>(ghost);
  const Storage* const from = values.at<Storage>(mirrored);
  const auto fill = [&](auto stride) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * stride;
      to[at] = to_storage<Storage>(
          std::fma(scale, static_cast<T>(stored_value(from[at])), static_cast<T>(factor * given[i])));
    }
  };
  if (face.line_axis() == x_axis)
    fill(std::integral_constant<std::int64_t, 1>());  // vector code
  else
    fill(values.strides()[face.line_axis()]);
}

template <class Storage>
void fill_face(Field& values, const Domain& domain, const FilledFace& face, const Box& known,
               std::int64_t step) {
  const int axis = face.axis;
  const std::int64_t n = domain.shape[axis], layers = values.halo()[axis];
  const Box allocated = values.allocated();
  const Box section = face_section(domain, allocated, known, axis);
  const std::int64_t begin = section.begin[face.slow_axis()], end = section.end[face.slow_axis()];
#pragma omp parallel
  {
    std::vector<double> given(static_cast<std::size_t>(section.extent()[face.line_axis()]));
#pragma omp for schedule(static)
    for (std::int64_t slow = begin; slow < end; ++slow) {
      Index3 first = section.begin;
      first[face.slow_axis()] = slow;
      face.evaluate(first, step, given);
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        Index3 ghost = first, mirrored = first;
        ghost[axis] = face.side == low ? -1 - layer : n + layer;
        mirrored[axis] = reflect(ghost[axis], n);
        if (ghost[axis] < allocated.begin[axis] || ghost[axis] >= allocated.end[axis]) break;
        if (mirrored[axis] >= known.begin[axis] && mirrored[axis] < known.end[axis])
          fill_line<Storage>(values, face, layer, ghost, mirrored, given);
      }
    }
  }
}

}  // namespace

void fill_walls(Field& values, const Domain& domain, std::span<const FilledFace> faces, int field,
                const Box& known, std::int64_t step) {
  if (known.empty()) return;
  with_storage(values.precision(), [&]<class Storage>() {
    for (const int axis : {x_axis, y_axis, z_axis})
      for (const FilledFace& face : faces)
        if (face.field == field && face.axis == axis && touches(domain, known, axis, face.side))
          fill_face<Storage>(values, domain, face, known, step);
  });
}

}  // namespace spsolve
