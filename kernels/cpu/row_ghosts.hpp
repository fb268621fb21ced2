// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "kernels/domain.hpp"
#include "kernels/operator/range.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Fills those ghosts of one row that lie in `memory` and within `radius` of an x wall. A ghost is filled if
/// it has a constant value or its reflected point lies in `known`. `row` points at x = 0.
template <class T>
void fill_known_row_ghosts(T* row, const Domain& domain, std::int64_t radius, Range known, Range memory,
                           const std::array<T, 2>& constant) {
  if (domain.periodic(x_axis)) return;
  const std::int64_t n = domain.shape[x_axis];
  const auto fill = [&](std::int64_t begin, std::int64_t end, Side side) {
    const bool is_constant = domain.faces[x_axis][side].kind == BoundaryKind::dirichlet;
    if (domain.faces[x_axis][side].kind == BoundaryKind::filled) return;
    for (std::int64_t x = std::max(begin, memory.begin); x < std::min(end, memory.end); ++x)
      if (const std::int64_t from = reflect(x, n); is_constant)
        row[x] = constant[side];
      else if (from >= known.begin && from < known.end)
        row[x] = row[from];
  };
  fill(-radius, 0, low);
  fill(n, n + radius, high);
}

/// Fills ghosts as fill_known_row_ghosts() does, but those of a wall only if all points that they reflect lie
/// in `known`.
template <class T>
void fill_row_ghosts(T* row, const Domain& domain, std::int64_t radius, Range known, Range memory,
                     const std::array<T, 2>& constant) {
  const std::int64_t n = domain.shape[x_axis], reflected = std::min(radius, n);
  if (known.begin > 0 || known.end < reflected) memory.begin = std::max<std::int64_t>(memory.begin, 0);
  if (known.end < n || known.begin > n - reflected) memory.end = std::min(memory.end, n);
  fill_known_row_ghosts(row, domain, radius, known, memory, constant);
}

/// Returns the ghost value of every face as T. Values are first rounded to storage so that all time levels
/// use the same number.
template <class T, class Storage>
std::array<std::array<T, 2>, 3> ghost_values(const Domain& domain) {
  std::array<std::array<T, 2>, 3> values{};
  for (int axis = 0; axis < axis_count; ++axis)
    for (const Side side : {low, high}) {
      const Storage stored = to_storage<Storage>(domain.faces[axis][side].value);
      if constexpr (std::is_same_v<T, Storage>)
        values[axis][side] = stored;
      else
        values[axis][side] = static_cast<T>(stored);
    }
  return values;
}

}  // namespace spsolve
