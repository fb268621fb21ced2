// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <experimental/simd>

#include "kernels/operator/range.hpp"
#include "kernels/precision.hpp"

// These operations are those that std::experimental::simd leaves to the compiler, which handles them lane by
// lane, up to 40 times slower. V is a simd of float or double of any width.
namespace spsolve::detail {

/// Is a vector of one element.
template <class T>
using ScalarVector = std::experimental::simd<T, std::experimental::simd_abi::scalar>;

template <class V>
constexpr bool is_fp64 = std::is_same_v<typename V::value_type, double>;

#ifdef __AVX512F__
[[gnu::always_inline]] inline __m512 fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
[[gnu::always_inline]] inline __m512d fma(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
#endif
#ifdef __FMA__
[[gnu::always_inline]] inline __m256 fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
[[gnu::always_inline]] inline __m256d fma(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmadd_pd(a, b, c);
}
#endif

/// Returns a * b + c, rounded once.
template <class V>
[[gnu::always_inline]] inline V fused(const V& a, const V& b, const V& c) {
  const auto in = [&]<class Register>(Register) __attribute__((always_inline)) {
    return __builtin_bit_cast(V, fma(__builtin_bit_cast(Register, a), __builtin_bit_cast(Register, b),
                                     __builtin_bit_cast(Register, c)));
  };
#ifdef __AVX512F__
  if constexpr (sizeof(V) == sizeof(__m512) && is_fp64<V>) return in(__m512d{});
  if constexpr (sizeof(V) == sizeof(__m512) && !is_fp64<V>) return in(__m512{});
#endif
#ifdef __FMA__
  if constexpr (sizeof(V) == sizeof(__m256) && is_fp64<V>) return in(__m256d{});
  if constexpr (sizeof(V) == sizeof(__m256) && !is_fp64<V>) return in(__m256{});
#endif
  return std::experimental::fma(a, b, c);
}

/// Makes the compiler load a vector once for several uses, which it would otherwise load for each of them.
template <class V>
[[gnu::always_inline]] inline void keep_in_register(V& vector) {
#ifdef __AVX__
  const auto in = [&]<class Register>(Register) __attribute__((always_inline)) {
    Register value = __builtin_bit_cast(Register, vector);
    asm("" : "+v"(value));
    vector = __builtin_bit_cast(V, value);
  };
#ifdef __AVX512F__
  if constexpr (sizeof(V) == sizeof(__m512)) in(__m512{});
#endif
  if constexpr (sizeof(V) == sizeof(__m256)) in(__m256{});
#endif
}

/// Loads V::size() neighbouring elements, converted to operands of products.
template <class V, class In>
[[gnu::always_inline]] inline V operands(const In* from) {
  if constexpr (std::is_same_v<In, typename V::value_type>)
    return V(from, std::experimental::element_aligned);
#if defined(__AVX2__) && defined(__F16C__)
  if constexpr (sizeof(V) == sizeof(__m256) && sizeof(In) == 2) {
    const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (std::is_same_v<In, Half>)
      return __builtin_bit_cast(V, _mm256_cvtph_ps(stored));
    else
      return __builtin_bit_cast(V, _mm256_slli_epi32(_mm256_cvtepu16_epi32(stored), 16));
  }
#endif
  return V([&](int lane) { return static_cast<typename V::value_type>(from[lane]); });
}

/// Stores a vector, converted to the type of `out`.
template <class V, class Out>
[[gnu::always_inline]] inline void store(const V& vector, Out* out) {
  if constexpr (std::is_same_v<Out, typename V::value_type>)
    return vector.copy_to(out, std::experimental::element_aligned);
#ifdef __F16C__
  if constexpr (sizeof(V) == sizeof(__m256) && std::is_same_v<Out, Half>)
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                            _mm256_cvtps_ph(__builtin_bit_cast(__m256, vector), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (int lane = 0; lane < static_cast<int>(V::size()); ++lane)
    out[lane] = Out(static_cast<typename V::value_type>(vector[lane]));
}

/// Stores to an aligned address with a non-temporal store if the instruction set has one.
template <class V, class T>
[[gnu::always_inline]] inline void store_non_temporal(const V& vector, T* out) {
#ifdef __AVX512F__
  if constexpr (sizeof(V) == sizeof(__m512i))
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(out), __builtin_bit_cast(__m512i, vector));
#endif
#ifdef __AVX__
  if constexpr (sizeof(V) == sizeof(__m256i))
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(out), __builtin_bit_cast(__m256i, vector));
#endif
  store(vector, out);
}

/// Stores a vector. `bypasses` selects a non-temporal store, to an address that must be aligned then, if the
/// vector needs no conversion.
template <class V, class Out>
[[gnu::always_inline]] inline void store(const V& vector, Out* out, bool bypasses) {
  if constexpr (std::is_same_v<Out, typename V::value_type>)
    if (bypasses) return store_non_temporal(vector, out);
  store(vector, out);
}

/// Stores the lanes of a vector from `first` on; all of them past the caches if `bypasses`. Even behind a
/// mask, no other line of `out` is touched: a store to a line that was just written past the caches waits for
/// memory.
template <class V>
[[gnu::always_inline]] inline void store_lanes_from(int first, const V& vector, typename V::value_type* out,
                                                    bool bypasses) {
  constexpr int lanes = static_cast<int>(V::size());
  if (first <= 0) return store(vector, out, bypasses);
  if (first >= lanes) return;
  typename V::value_type values[2 * lanes] = {};
  vector.copy_to(values, std::experimental::element_aligned);
  const V lane([](int i) { return i; }), last(values + first, std::experimental::element_aligned);
  where(lane < static_cast<typename V::value_type>(lanes - first), last)
      .copy_to(out + first, std::experimental::element_aligned);
}

/// Returns true if a block of points of a row may be stored past the caches with vectors of type V: if all of
/// it lies in `past_caches`, and its address `at` is aligned.
template <class V>
[[gnu::always_inline]] inline bool may_bypass(const void* at, const Range& block, const Range& past_caches) {
  return block.begin >= past_caches.begin && block.end <= past_caches.end &&
         reinterpret_cast<std::uintptr_t>(at) % sizeof(V) == 0;
}

/// Stores the points from `first` on of a block of vectors to some rows. The block begins at the point x,
/// whose address in row p is `row(p)`. Whole vectors of points of `past_caches` bypass the caches.
template <int rows, int vectors, class V, class Row>
[[gnu::always_inline]] inline void store_rest(const V (&block)[rows][vectors], const Row& row, std::int64_t x,
                                              std::int64_t first, const Range& past_caches) {
  constexpr int lanes = static_cast<int>(V::size());
#pragma GCC unroll 4
  for (int p = 0; p < rows; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      store_lanes_from(static_cast<int>(first - x) - v * lanes, block[p][v], row(p) + v * lanes,
                       may_bypass<V>(row(p) + v * lanes, {x + v * lanes, x + (v + 1) * lanes}, past_caches));
}

/// Stores a block of vectors to some rows, from the point x on. `row(p)` is the address of that point in row
/// p; all rows are equally far from cache lines. A block of points of `past_caches` bypasses the caches.
/// Earlier blocks have stored the points before `begin`; a block of at most two vectors leaves those alone
/// that bypassed the caches.
template <int rows, int vectors, class V, class Row>
[[gnu::always_inline]] inline void store_block(const V (&block)[rows][vectors], const Row& row,
                                               std::int64_t x, std::int64_t begin, const Range& past_caches) {
  constexpr int lanes = static_cast<int>(V::size());
  if constexpr (vectors <= 2 && std::is_same_v<decltype(row(0)), typename V::value_type*>)
    if (const std::int64_t first = std::min(begin, past_caches.end); x < first)
      return store_rest(block, row, x, first, past_caches);
  const bool bypasses = may_bypass<V>(row(0), {x, x + vectors * lanes}, past_caches);
#pragma GCC unroll 4
  for (int p = 0; p < rows; ++p)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(block[p][v], row(p) + v * lanes, bypasses);
}

}  // namespace spsolve::detail
