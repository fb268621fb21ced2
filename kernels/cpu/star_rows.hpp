// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/correlate_rows.hpp"

namespace spsolve {

namespace detail {

/// Adds the inputs of a star to two vectors of each of max_rows rows in neighbouring planes. `column(plane)`
/// is the address of the first input in the column of the rows, `across(p, k)` that of the input k rows
/// across from row p. There is a weight per tap. All loops have constant bounds, so the compiler unrolls them
/// and keeps sums in registers. An input in the column of the rows is loaded once for all of them; each row
/// still adds its taps in the order of the stencil.
template <int radius, class V, class Column, class Across, class Sum>
[[gnu::always_inline]] inline void add_star(const Column& column, const Across& across, const Sum* weights,
                                            V (&sums)[max_rows][2]) {
  using In = std::remove_pointer_t<decltype(column(0))>;
  constexpr int lanes = static_cast<int>(V::size()), centre = 2 * radius;
  const auto load = [&](In * in, V(&operand)[2]) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      operand[v] = operands<V>(in + v * lanes);
      keep_in_register(operand[v]);
    }
  };
  const auto add = [&](int tap, const V(&operand)[2], V(&row)[2]) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) row[v] = fused(V(weights[tap]), operand[v], row[v]);
  };
  const auto add_input = [&](int tap, In* in, V(&row)[2]) __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) row[v] = fused(V(weights[tap]), operands<V>(in + v * lanes), row[v]);
  };
#pragma GCC unroll 32
  for (int plane = -radius; plane < max_rows + radius; ++plane) {
    In* const middle = column(plane);
    V operand[2];
    load(middle, operand);
#pragma GCC unroll 4
    for (int p = 0; p < max_rows; ++p)
      if (p > plane && p <= plane + radius) add(plane - p + radius, operand, sums[p]);
    if (plane >= 0 && plane < max_rows) {
      V(&row)[2] = sums[plane];
#pragma GCC unroll 16
      for (int k = -radius; k < 0; ++k) add_input(centre + k, across(plane, k), row);
#pragma GCC unroll 32
      for (int k = -radius; k <= radius; ++k)
        if (k == 0)
          add(centre + radius, operand, row);
        else
          add_input(centre + radius + k, middle + k, row);
#pragma GCC unroll 16
      for (int k = 1; k <= radius; ++k) add_input(centre + 2 * radius + k, across(plane, k), row);
    }
#pragma GCC unroll 4
    for (int p = 0; p < max_rows; ++p)
      if (p < plane && p >= plane - radius) add(centre + plane - p + 3 * radius, operand, sums[p]);
  }
}

/// Adds a star to sums in memory. `middle` is the address of the input at the first sum; `plane_pitch` and
/// `pitch` are the distances in bytes to the next input along stream and across. The function is not inlined,
/// because it needs all registers.
template <int radius, class V, class T>
[[gnu::noinline]] void add_star_to(V (&sums)[max_rows][2], const std::byte* middle, std::int64_t plane_pitch,
                                   std::int64_t pitch, const T* weights) {
  V local[max_rows][2];
  const auto copy = [](const V(&from)[max_rows][2], V(&to)[max_rows][2]) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int p = 0; p < max_rows; ++p)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) to[p][v] = from[p][v];
  };
  copy(sums, local);
  const auto input = [&](std::int64_t plane, std::int64_t row) __attribute__((always_inline)) {
    return reinterpret_cast<const T*>(middle + plane * plane_pitch + row * pitch);
  };
  add_star<radius>(
      [&](int plane) __attribute__((always_inline)) { return input(plane, 0); }, input, weights, local);
  copy(local, sums);
}

/// Computes the rows of a star of constant radius, two vectors of each row at a time. There is one call of
/// add_star(), which is long.
template <int radius, class V, class Out, class In>
void star_rows(const Rows<Out, In>& group) {
  constexpr int lanes = static_cast<int>(V::size());
  constexpr std::int64_t block = 2 * lanes;
  const auto past_line =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(group.out[0]) % cache_line);
  // The first block ends behind, the last begins before its neighbour if the row is not aligned.
  const std::int64_t aligned =
      past_line ? (cache_line - past_line) / static_cast<std::int64_t>(sizeof(Out)) : 0;
  for (std::int64_t next = 0; next < group.points;) {
    const std::int64_t begin = next, x = std::min(begin, group.points - block);
    next = next == 0 && aligned % block != 0 ? aligned % block : next + block;
    V sums[max_rows][2];
#pragma GCC unroll 4
    for (int p = 0; p < max_rows; ++p) {
      if (group.leading[p]) fetch_ahead<block>(group.leading[p] + x);
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v)
        sums[p][v] = group.source[p] ? operands<V>(group.source[p] + x + v * lanes) : V(Compute<In>{0});
    }
    // The inputs are those of star_schedule().
    add_star<radius>(
        [&](int plane) __attribute__((always_inline)) {
          return group.inputs[max_rows * 2 * radius + radius + plane] + x;
        },
        [&](int row, int k) __attribute__((always_inline)) {
          return group.inputs[row * 2 * radius + radius + (k < 0 ? k : k - 1)] + x;
        },
        group.schedule->weights.data(), sums);
    store_block(
        sums, [&](int p) __attribute__((always_inline)) { return group.out[p] + x; }, x, begin,
        group.past_caches);
  }
}

}  // namespace detail

/// Computes max_rows rows of a star (TapSchedule::star) of at least shortest_star_row points with vectors of
/// type V. Every point is a chain of fused multiply-adds in the order of the taps, as in correlate_rows().
template <class V, class Out, class In>
void correlate_star(const Rows<Out, In>& group) {
  const auto choose = [&]<int... n>(std::integer_sequence<int, n...>) {
    ((group.schedule->star == n + 1 ? detail::star_rows<n + 1, V>(group) : void()), ...);
  };
  choose(std::make_integer_sequence<int, widest_star>{});
}

}  // namespace spsolve
