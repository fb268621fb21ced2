// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/fill_walls.hpp"

#include <cmath>
#include <vector>

namespace spsolve {
namespace {

/// Returns the points of a face and of the ghosts beyond earlier axes, as the face is filled: one row of it
/// at a time. The extent along `axis` is one.
Box cross_section(const Field& values, const Domain& domain, const Box& known, int axis) {
  const Box allocated = values.allocated();
  Box section = known;
  for (int earlier = axis + 1; earlier < axis_count; ++earlier) {
    if (domain.periodic(earlier)) continue;
    if (known.begin[earlier] == 0) section.begin[earlier] = allocated.begin[earlier];
    if (known.end[earlier] == domain.shape[earlier]) section.end[earlier] = allocated.end[earlier];
  }
  section.begin[axis] = 0;
  section.end[axis] = 1;
  return section;
}

template <class Storage>
void fill_face(Field& values, const Domain& domain, const FilledFace& face, const Box& known,
               std::int64_t step) {
  using T = Compute<Storage>;
  const int axis = face.axis;
  const std::int64_t n = domain.shape[axis], layers = values.halo()[axis];
  const Box section = cross_section(values, domain, known, axis);
  const std::int64_t points = section.extent()[x_axis];
#pragma omp parallel
  {
    std::vector<double> given(static_cast<std::size_t>(points));
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < row_count(section); ++i) {
      const Index3 first = row_begin(section, i);
      if (face.values) face.values(first, step, given);
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        Index3 ghost = first, mirrored = first;
        ghost[axis] = face.side == low ? -1 - layer : n + layer;
        mirrored[axis] = reflect(ghost[axis], n);
        if (ghost[axis] < values.allocated().begin[axis] || ghost[axis] >= values.allocated().end[axis])
          break;
        if (mirrored[axis] < known.begin[axis] || mirrored[axis] >= known.end[axis]) continue;
        const T scale = static_cast<T>(face.scale(layer));
        const double factor = face.factor(layer);
        Storage* const to = values.at<Storage>(ghost);
        const Storage* const from = values.at<Storage>(mirrored);
        for (std::int64_t x = 0; x < points; ++x)
          to[x] = to_storage<Storage>(std::fma(scale, static_cast<T>(stored_value(from[x])),
                                               static_cast<T>(factor * given[static_cast<std::size_t>(x)])));
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
      for (const FilledFace& face : faces) {
        if (face.field != field || face.axis != axis) continue;
        const bool touches =
            face.side == low ? known.begin[axis] <= 0 : known.end[axis] >= domain.shape[axis];
        if (touches) fill_face<Storage>(values, domain, face, known, step);
      }
  });
}

}  // namespace spsolve
