// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <experimental/simd>

#include "kernels/precision.hpp"

namespace spsolve {

namespace detail {

/// `vectors` registers of sums for the points from x on: every tap is one load and one fused multiply-add each.
template <int vectors, class V, class Out, class In, class Sum>
inline void correlate_block(Out* out, std::int64_t x, const In* const* taps, const Sum* weights, int tap_count,
                            const Sum* source) {
  constexpr int lanes = static_cast<int>(V::size());
  const auto load = [](const auto* from) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(*from)>, Sum>)
      return V(from, std::experimental::element_aligned);
    else
      return V([&](int lane) { return static_cast<Sum>(from[lane]); });
  };
  V sum[vectors];
  for (int v = 0; v < vectors; ++v) sum[v] = source ? load(source + x + v * lanes) : V(Sum{0});
  for (int k = 0; k < tap_count; ++k) {
    const In* in = taps[k] + x;
    const V weight = weights[k];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = std::experimental::fma(weight, load(in + v * lanes), sum[v]);
  }
  for (int v = 0; v < vectors; ++v) {
    if constexpr (std::is_same_v<Out, Sum>) sum[v].copy_to(out + x + v * lanes, std::experimental::element_aligned);
    else
      for (int lane = 0; lane < lanes; ++lane) out[x + v * lanes + lane] = Out(static_cast<Sum>(sum[v][lane]));
  }
}

}  // namespace detail

/// One row of one time step: out[x] = source[x] + sum_k weights[k] * taps[k][x] for x in [0, n), where taps[k] is
/// the input row shifted by the offset of tap k, and source may be null. Every point is a chain of fused
/// multiply-adds in the order of the taps, whether it falls in a vector or in the remainder, so its bits do not
/// depend on where the row begins or ends. `out` overlaps none of the inputs.
/// Per point: one load and one fma per tap; bound by L1 loads (2 per cycle) above some 20 taps, by memory below.
template <class Out, class In, class Sum = Compute<In>>
void correlate_row(Out* out, std::int64_t n, const In* const* taps, const Sum* weights, int tap_count, const Sum* source) {
  using Vector = std::experimental::native_simd<Sum>;
  using One = std::experimental::simd<Sum, std::experimental::simd_abi::scalar>;
  constexpr int vectors = 8;  // enough independent sums to hide the latency of an fma (4 cycles, 2 per cycle)
  constexpr auto lanes = static_cast<std::int64_t>(Vector::size());
  std::int64_t x = 0;
  for (; x + vectors * lanes <= n; x += vectors * lanes)
    detail::correlate_block<vectors, Vector>(out, x, taps, weights, tap_count, source);
  for (; x + lanes <= n; x += lanes) detail::correlate_block<1, Vector>(out, x, taps, weights, tap_count, source);
  for (; x < n; ++x) detail::correlate_block<1, One>(out, x, taps, weights, tap_count, source);
}

}  // namespace spsolve
