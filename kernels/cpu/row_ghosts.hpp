// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/domain.hpp"
#include "kernels/operator/range.hpp"
#include "kernels/precision.hpp"
#include "kernels/rounding.hpp"

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

/// Returns the points of the row `known` that are best stored past the caches. They fill pairs of whole cache
/// lines, or all lines of a row that ends with a line, and none of them is read again to fill one of the
/// `radius` ghosts beside an x wall. `row` points at x = 0.
template <class T>
Range points_past_caches(const T* row, const Domain& domain, std::int64_t radius, const Range& known) {
  constexpr auto line = cache_line / static_cast<std::int64_t>(sizeof(T));
  const auto& faces = domain.faces[x_axis];
  const auto past_line =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row + known.begin) % cache_line / sizeof(T));
  Range past{known.begin + wrap(-past_line, line), known.end};
  if (faces[low].kind == BoundaryKind::neumann)
    past.begin += round_up(std::max<std::int64_t>(radius - past.begin, 0), 2 * line);
  if (faces[high].kind == BoundaryKind::neumann) past.end = std::min(past.end, domain.shape[x_axis] - radius);
  const std::int64_t unit = past.end == known.end && wrap(past.end - past.begin, line) == 0 ? line : 2 * line;
  past.end -= wrap(past.end - past.begin, unit);
  return past.empty() ? Range{known.begin, known.begin} : past;
}

/// Starts to load the cache lines of a row that are not stored past the caches: those of `known` outside
/// `past` and those of the ghosts that are filled beside x walls. A store that waits for its line holds up
/// all stores behind it. The function is always inlined, because compilers drop calls of functions that only
/// prefetch.
template <class T>
[[gnu::always_inline]] inline void fetch_row_ends(const T* row, const Domain& domain, std::int64_t radius,
                                                  const Range& known, const Range& past) {
  Range written = known;
  if (!domain.periodic(x_axis)) {
    if (written.begin == 0) written.begin -= radius;
    if (written.end == domain.shape[x_axis]) written.end += radius;
  }
  for (const auto& [begin, end] : {Range{written.begin, past.begin}, Range{past.end, written.end}})
    for (auto line = reinterpret_cast<std::uintptr_t>(row + begin) / cache_line * cache_line;
         line < reinterpret_cast<std::uintptr_t>(row + end); line += cache_line)
      __builtin_prefetch(reinterpret_cast<const void*>(line), 1);
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
