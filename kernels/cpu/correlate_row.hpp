// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/cpu/vector_operations.hpp"

namespace spsolve {

/// Describes one row of one time step: out[x] = source[x] + sum_k weights[k] * taps[k][x] for x in [0,
/// points).
template <class Out, class In>
struct Row {
  using Sum = Compute<In>;

  Out* out;  // overlaps none of the inputs
  std::int64_t points;
  const In* const* taps;  // per tap: the input row, shifted by the tap's offset
  const Sum* weights;
  int tap_count;
  const Sum* source;              // or null
  const In* next_in = nullptr;    // row that a later call reads first, or null; it is prefetched
  const Out* next_out = nullptr;  // (into the second-level cache), and so is the row that is written first
  bool non_temporal = false;      // bypass the caches: `out` is not read again soon
};

namespace detail {

/// Computes the points [x, x + vectors * V::size()) of a row. Each tap takes one load and one fused
/// multiply-add per vector.
template <class V, int vectors, bool non_temporal, class Out, class In>
[[gnu::always_inline]] inline void correlate_block(const Row<Out, In>& row, std::int64_t x) {
  using Sum = Compute<In>;
  constexpr int lanes = static_cast<int>(V::size());
  V sum[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sum[v] = row.source ? operands<V>(row.source + x + v * lanes) : V(Sum{0});
  for (int k = 0; k < row.tap_count; ++k) {
    const In* in = row.taps[k] + x;
    const V weight = row.weights[k];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = fused(weight, operands<V>(in + v * lanes), sum[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) {
    Out* out = row.out + x + v * lanes;
    if constexpr (non_temporal && std::is_same_v<Out, Sum>)
      store_non_temporal(sum[v], out);
    else
      store(sum[v], out);
  }
}

template <int points, class T>
[[gnu::always_inline]] inline void fetch(const T* row, std::int64_t x) {
  if (!row) return;
#pragma GCC unroll 16
  for (int i = 0; i < points; i += cache_line / sizeof(T)) __builtin_prefetch(row + x + i, 0, 2);
}

/// Computes register blocks from an aligned x on, as long as whole blocks fit. Returns the end of the last
/// block.
template <class V, bool non_temporal, class Out, class In>
[[gnu::always_inline]] inline std::int64_t correlate_blocks(const Row<Out, In>& row, std::int64_t x) {
  constexpr int vectors = 8;  // enough independent sums to hide the latency of an fma (4 cycles, 2 per cycle)
  constexpr int points = vectors * static_cast<int>(V::size());
  for (; x + points <= row.points; x += points) {
    fetch<points>(row.next_in, x);
    fetch<points>(row.next_out, x);
    correlate_block<V, vectors, non_temporal>(row, x);
  }
  return x;
}

}  // namespace detail

/// Computes a row with vectors of type V. Every point is a chain of fused multiply-adds in the order of the
/// taps, both in full vectors and in the remainder. Its bits therefore depend neither on the ends of the row
/// nor on V. The last vector may overlap its neighbour; the same bits are then written twice.
///
/// The cost per point is one load and one fma per tap. Above about ten taps the limit is loads that cross a
/// cache line (for taps with x != 0, all but one in `lanes`); below that it is memory bandwidth.
template <class V, class Out, class In>
void correlate_row(const Row<Out, In>& row) {
  constexpr auto lanes = static_cast<std::int64_t>(V::size());
  if (row.points < lanes) {
    using One = std::experimental::simd<Compute<In>, std::experimental::simd_abi::scalar>;
    for (std::int64_t x = 0; x < row.points; ++x) detail::correlate_block<One, 1, false>(row, x);
    return;
  }
  std::int64_t x = 0;
  if (const auto past_line =
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row.out) % cache_line)) {
    detail::correlate_block<V, 1, false>(row, 0);
    x = (cache_line - past_line) / static_cast<std::int64_t>(sizeof(Out)) % lanes;
  }
  x = row.non_temporal ? detail::correlate_blocks<V, true>(row, x)
                       : detail::correlate_blocks<V, false>(row, x);
  for (; x + lanes <= row.points; x += lanes) detail::correlate_block<V, 1, false>(row, x);
  if (x < row.points) detail::correlate_block<V, 1, false>(row, row.points - lanes);
}

#ifdef SPSOLVE_AVX512
/// Returns true if the processor has all extensions that x86-64-v4 code uses.
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

/// Calls correlate_row with 512-bit vectors, compiled for x86-64-v4. T is double or float.
template <class T>
void correlate_row_avx512(const Row<T, T>& row);
#endif

/// Calls correlate_row with the widest vectors of this processor.
template <class Out, class In>
void correlate_row_widest(const Row<Out, In>& row) {
#ifdef SPSOLVE_AVX512
  if constexpr (std::is_same_v<Out, In> && std::is_floating_point_v<In>)
    if (has_avx512()) return correlate_row_avx512(row);
#endif
  correlate_row<std::experimental::native_simd<Compute<In>>>(row);
}

}  // namespace spsolve
