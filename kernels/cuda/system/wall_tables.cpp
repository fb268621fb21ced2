// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/wall_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace spsolve::cuda {
namespace {

/// Returns the address of element 0, which may lie outside the memory, of an array whose element `offset`
/// lies at an address.
template <class T>
T* origin_of(T* address, std::int64_t offset, std::int64_t element_bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::intptr_t>(address) - offset * element_bytes);
}

}  // namespace

std::size_t WallTables::Placed::line() const {
  return varies_along_face ? static_cast<std::size_t>(section.extent()[face.line_axis()]) : 1;
}

std::size_t WallTables::Placed::size() const {
  return varies_along_face ? line() * static_cast<std::size_t>(section.extent()[face.slow_axis()]) : 1;
}

/// Writes the table of a step. Threads of a parallel region share the lines.
void WallTables::Placed::write(std::int64_t step, double* table) const {
  const auto lines = static_cast<std::int64_t>(size() / line());
#pragma omp for schedule(static) nowait
  for (std::int64_t i = 0; i < lines; ++i) {
    Index3 first = section.begin;
    first[face.slow_axis()] += i;
    face.evaluate(first, step, {table + values + static_cast<std::size_t>(i) * line(), line()});
  }
}

WallTables::WallTables(std::span<const FilledFace> faces, std::vector<Domain> fields, const Box& allocated,
                       const Index3& halo)
    : fields_(std::move(fields)), allocated_(allocated), halo_(halo) {
  for (const FilledFace& face : faces) {
    const Domain& domain = fields_[static_cast<std::size_t>(face.field)];
    const bool has_ghosts = face.side == low ? allocated.begin[face.axis] < 0
                                             : allocated.end[face.axis] > domain.shape[face.axis];
    if (!has_ghosts) continue;
    const bool has_values = static_cast<bool>(face.values);
    Placed placed{face,
                  section_of(face),
                  has_values && face.varies_along_face,
                  has_values && face.varies_in_time,
                  constant_size_,
                  0};
    constant_size_ += 2 * static_cast<std::size_t>(halo[face.axis]);
    std::size_t& size = placed.varies_in_time ? level_size_ : constant_size_;
    placed.values = size;
    size += placed.size();
    placed_.push_back(std::move(placed));
  }
}

Box WallTables::section_of(const FilledFace& face) const {
  const Domain& domain = fields_[static_cast<std::size_t>(face.field)];
  return face_section(domain, allocated_, domain.clip_to_walls(allocated_), face.axis);
}

void WallTables::write_constants(std::span<double> table) const {
  for (const Placed& placed : placed_)
    for (std::int64_t layer = 0; layer < halo_[placed.face.axis]; ++layer) {
      double* const to = table.data() + placed.layers + 2 * static_cast<std::size_t>(layer);
      to[0] = placed.face.scale(layer);
      to[1] = placed.face.factor(layer);
    }
#pragma omp parallel
  for (const Placed& placed : placed_)
    if (!placed.varies_in_time) placed.write(0, table.data());
}

void WallTables::write_levels(std::int64_t step, std::span<double> tables) const {
  if (level_size_ == 0) return;
  const std::size_t levels = tables.size() / level_size_;
#pragma omp parallel
  for (std::size_t level = 0; level < levels; ++level)
    for (const Placed& placed : placed_)
      if (placed.varies_in_time)
        placed.write(step + static_cast<std::int64_t>(level), tables.data() + level * level_size_);
}

WallFace WallTables::face(int field, int axis, Side side, const double* constants,
                          const double* level) const {
  const auto placed = std::ranges::find_if(placed_, [&](const Placed& one) {
    return one.face.field == field && one.face.axis == axis && one.face.side == side;
  });
  if (placed == placed_.end()) return {};
  WallFace face{
      constants + placed->layers, (placed->varies_in_time ? level : constants) + placed->values, {}};
  if (!placed->varies_along_face) return face;
  face.stride[0] = static_cast<long long>(placed->line());
  face.stride[1] = 1;
  const Index3& begin = placed->section.begin;
  face.values = origin_of(face.values,
                          begin[placed->face.slow_axis()] * face.stride[0] + begin[placed->face.line_axis()],
                          sizeof(double));
  return face;
}

FillArguments fill_arguments(const WallTables& tables, std::span<const GhostsOf> arrays,
                             const double* constants, const Box& known) {
  FillArguments a{};
  const Domain& domain = tables.fields()[static_cast<std::size_t>(arrays.front().field)];
  const Index3& strides = arrays.front().array->strides();
  const Box& allocated = tables.allocated();
  std::copy_n(domain.shape.begin(), axis_count, a.shape);
  std::copy_n(strides.begin(), 2, a.stride);
  std::copy_n(known.begin.begin(), axis_count, a.known_begin);
  std::copy_n(known.end.begin(), axis_count, a.known_end);
  int number = 0;
  for (int axis = 0; axis < axis_count; ++axis) {
    a.has_walls[axis] = !domain.periodic(axis);
    for (const Side side : {low, high}) {
      Box ghosts = face_section(domain, allocated, known, axis);
      ghosts.begin[axis] = side == low ? allocated.begin[axis] : domain.shape[axis];
      ghosts.end[axis] = side == low ? 0 : allocated.end[axis];
      if (a.has_walls[axis] && touches(domain, known, axis, side) && !ghosts.empty()) {
        std::copy_n(ghosts.begin.begin(), axis_count, a.slab[number].begin);
        std::copy_n(ghosts.extent().begin(), axis_count, a.slab[number].extent);
        a.first_point[number + 1] = ghosts.points();
      }
      a.first_point[number + 1] += a.first_point[number];
      ++number;
    }
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Field& field = *arrays[i].array;
    const Index3& begin = allocated.begin;
    a.array[i].data =
        origin_of(field.bytes_at(begin), begin[0] * strides[0] + begin[1] * strides[1] + begin[2],
                  static_cast<std::int64_t>(storage_bytes(field.precision())));
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Side side : {low, high})
        a.array[i].face[axis][side] = tables.face(arrays[i].field, axis, side, constants, arrays[i].level);
  }
  return a;
}

}  // namespace spsolve::cuda
