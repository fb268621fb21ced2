// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/cpu/tap_schedule.hpp"
#include "kernels/cpu/vector_operations.hpp"

namespace spsolve {

/// Describes rows of one time step that are computed together: out[p][x] = source[p][x] + the sum of
/// weight * input[x] over the inputs of row p, for x in [0, points).
template <class Out, class In>
struct Rows {
  using Sum = Compute<In>;
  template <class T>
  using PerRow = std::array<T*, max_rows>;

  std::int64_t points;
  const TapSchedule<Sum>* schedule;
  const In* const* inputs;     // per input of the schedule: its row, shifted by its offset along x
  PerRow<Out> out{};           // rows that overlap none of the inputs, equally far from cache lines
  PerRow<const Sum> source{};  // all null if there is none
  PerRow<const In> leading{};  // inputs that no earlier call has read, or null; they are fetched ahead
  Range past_caches{};         // points of `out` that are stored past the caches
};

namespace detail {

/// Adds the inputs of a segment to the points from x on of `outputs` rows. Each input takes one load per
/// vector, each of its rows one fused multiply-add.
template <int outputs, class V, int vectors, class In, class Sum>
[[gnu::always_inline]] inline void add_inputs(int count, const In* const* inputs, const Sum* weights,
                                              std::int64_t x, V (*sums)[vectors]) {
  constexpr int lanes = static_cast<int>(V::size());
  for (int k = 0; k < count; ++k, weights += outputs) {
    const In* in = inputs[k] + x;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      V operand = operands<V>(in + v * lanes);
      if constexpr (outputs > 1) keep_in_register(operand);
#pragma GCC unroll 4
      for (int p = 0; p < outputs; ++p) sums[p][v] = fused(V(weights[p]), operand, sums[p][v]);
    }
  }
}

/// Starts to load into the first-level cache the points of a row that are read two blocks later, where
/// `block` is the address of the present block of `points` points. So near to their use, the hardware
/// prefetcher of the second-level cache meets the lines of each array once and in order, and follows. Fetches
/// of a later row disturb it, and wait for memory in the few buffers that loads from that cache need too.
template <int points, class T>
[[gnu::always_inline]] inline void fetch_ahead(const T* block) {
#pragma GCC unroll 16
  for (int i = 0; i < points; i += cache_line / sizeof(T)) __builtin_prefetch(block + 2 * points + i, 0, 3);
}

/// Computes the points [x, x + vectors * V::size()) of `rows` rows. Those before `begin` are already stored.
template <class V, int rows, int vectors, class Out, class In>
[[gnu::always_inline]] inline void correlate_block(const Rows<Out, In>& group, std::int64_t x,
                                                   std::int64_t begin) {
  using Sum = Compute<In>;
  constexpr int lanes = static_cast<int>(V::size());
#pragma GCC unroll 4
  for (int p = 0; p < rows; ++p)
    if (group.leading[p]) fetch_ahead<vectors * lanes>(group.leading[p] + x);
  V sums[rows][vectors];
#pragma GCC unroll 4
  for (int p = 0; p < rows; ++p)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      sums[p][v] = group.source[p] ? operands<V>(group.source[p] + x + v * lanes) : V(Sum{0});
  const In* const* inputs = group.inputs;
  const Sum* weights = group.schedule->weights.data();
  if constexpr (rows == 1) {
    add_inputs<1>(group.schedule->segments.front().inputs, inputs, weights, x, sums);
  } else {
    static_assert(rows == max_rows);
    for (const TapSegment& segment : group.schedule->segments) {
      const int count = segment.inputs;
      switch (max_rows * segment.first + segment.outputs) {
        case 1:
          add_inputs<1>(count, inputs, weights, x, sums);
          break;
        case 2:
          add_inputs<2>(count, inputs, weights, x, sums);
          break;
        case 3:
          add_inputs<3>(count, inputs, weights, x, sums);
          break;
        case 4:
          add_inputs<4>(count, inputs, weights, x, sums);
          break;
        case 5:
          add_inputs<1>(count, inputs, weights, x, sums + 1);
          break;
        case 6:
          add_inputs<2>(count, inputs, weights, x, sums + 1);
          break;
        case 7:
          add_inputs<3>(count, inputs, weights, x, sums + 1);
          break;
        case 9:
          add_inputs<1>(count, inputs, weights, x, sums + 2);
          break;
        case 10:
          add_inputs<2>(count, inputs, weights, x, sums + 2);
          break;
        case 13:
          add_inputs<1>(count, inputs, weights, x, sums + 3);
          break;
      }
      inputs += count;
      weights += count * segment.outputs;
    }
  }
  store_block(
      sums, [&](int p) __attribute__((always_inline)) { return group.out[p] + x; }, x, begin,
      group.past_caches);
}

/// Computes register blocks of `vectors` vectors from x on, as long as whole blocks end by `end`. Returns the
/// end of the last block.
template <class V, int rows, int vectors, class Out, class In>
[[gnu::always_inline]] inline std::int64_t correlate_blocks(const Rows<Out, In>& group, std::int64_t x,
                                                            std::int64_t end) {
  constexpr std::int64_t points = vectors * static_cast<std::int64_t>(V::size());
  for (; x + points <= end; x += points) correlate_block<V, rows, vectors>(group, x, x);
  return x;
}

/// Computes a group of `rows` rows with vectors of type V.
template <class V, int rows, class Out, class In>
[[gnu::always_inline]] inline void correlate_group(const Rows<Out, In>& group) {
  constexpr auto lanes = static_cast<std::int64_t>(V::size());
  if (group.points < lanes) {
    correlate_blocks<ScalarVector<Compute<In>>, rows, 1>(group, 0, group.points);
    return;
  }
  std::int64_t x = 0;
  if (const auto past_line =
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(group.out[0]) % cache_line)) {
    correlate_block<V, rows, 1>(group, 0, 0);
    x = (cache_line - past_line) / static_cast<std::int64_t>(sizeof(Out)) % lanes;
  }
  // A block bypasses the caches with all of its points or with none. Eight independent sums hide the latency
  // of an fma (4 cycles, 2 per cycle).
  for (const std::int64_t end : {group.past_caches.begin, group.past_caches.end, group.points}) {
    x = correlate_blocks<V, rows, 8 / rows>(group, x, end);
    x = correlate_blocks<V, rows, 1>(group, x, end);
  }
  if (x < group.points) correlate_block<V, rows, 1>(group, group.points - lanes, x);
}

}  // namespace detail

/// Computes rows with vectors of type V. Every point is a chain of fused multiply-adds in the order of the
/// taps, both in full vectors and in the remainder. Its bits therefore depend neither on the ends of the row
/// nor on V, nor on the rows that are computed with it. The last vector may overlap its neighbour; the same
/// bits are then written twice.
///
/// The cost per point is one load per input of the schedule and one fma per tap. Above about ten taps the
/// limit is loads, twice those that cross a cache line (for taps with x != 0, all but one in `lanes`); below
/// that it is memory bandwidth.
template <class V, class Out, class In>
void correlate_rows(const Rows<Out, In>& group) {
  group.schedule->rows == 1 ? detail::correlate_group<V, 1>(group)
                            : detail::correlate_group<V, max_rows>(group);
}

#ifdef SPSOLVE_AVX512
/// Returns true if the processor has all extensions that x86-64-v4 code uses.
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

/// Calls correlate_rows with 512-bit vectors, compiled for x86-64-v4. T is double or float.
template <class T>
void correlate_rows_avx512(const Rows<T, T>& group);

/// Calls correlate_star with 512-bit vectors, compiled for x86-64-v4. T is double or float.
template <class T>
void correlate_star_avx512(const Rows<T, T>& group);
#endif

/// Calls correlate_star with the widest vectors of this processor. T is double or float.
template <class T>
void correlate_star_widest(const Rows<T, T>& group);

/// Calls correlate_rows with the widest vectors of this processor.
template <class Out, class In>
void correlate_rows_widest(const Rows<Out, In>& group) {
  if constexpr (std::is_same_v<Out, In> && std::is_floating_point_v<In>)
    if (group.schedule->star) return correlate_star_widest(group);
#ifdef SPSOLVE_AVX512
  if constexpr (std::is_same_v<Out, In> && std::is_floating_point_v<In>)
    if (has_avx512()) return correlate_rows_avx512(group);
#endif
  correlate_rows<std::experimental::native_simd<Compute<In>>>(group);
}

// These instances take long to compile: correlate_rows.cpp has those of formats of at least 32 bits,
// correlate_rows_16bit.cpp the others.
extern template void correlate_rows_widest(const Rows<double, double>&);
extern template void correlate_rows_widest(const Rows<float, float>&);
extern template void correlate_rows_widest(const Rows<Tf32, Tf32>&);
extern template void correlate_rows_widest(const Rows<Bfloat16, Bfloat16>&);
extern template void correlate_rows_widest(const Rows<Bfloat16, float>&);
extern template void correlate_rows_widest(const Rows<float, Bfloat16>&);
extern template void correlate_rows_widest(const Rows<Half, Half>&);
extern template void correlate_rows_widest(const Rows<Half, float>&);
extern template void correlate_rows_widest(const Rows<float, Half>&);

}  // namespace spsolve
