// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cpu/block_instruction.hpp"
#include "kernels/cpu/correlate_row.hpp"

namespace spsolve {

namespace detail {

/// Runs all instructions on the points [x, x + vectors * V::size()). The accumulator stays in registers from
/// one instruction to the next, so an instruction costs one load from the first-level cache per operand.
/// `Widest` is the vector type of the caller: it keeps versions for different processors apart.
template <class V, int vectors, class Storage, class Widest>
inline void run_block(const BoundBlocks<typename V::value_type>& blocks, std::int64_t x) {
  using T = typename V::value_type;
  constexpr int lanes = static_cast<int>(V::size());
  V acc[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) acc[v] = T{0};
  const auto memory = [&](int operand) __attribute__((always_inline)) {
    return static_cast<T*>(blocks.at[operand]) + (x & blocks.mask[operand]);
  };
  const auto stored = [&](int operand) __attribute__((always_inline)) {
    return static_cast<Storage*>(blocks.at[operand]) + (x & blocks.mask[operand]);
  };
  for (int i = 0; i < blocks.count; ++i) {
    const BlockInstruction& instruction = blocks.instructions[i];
    const int first = instruction.first;
    const auto each = [&](auto&& function) __attribute__((always_inline)) {
      const T* const m = memory(first);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        acc[v] = function(acc[v], V(m + v * lanes, std::experimental::element_aligned));
    };
    const auto compare = [&](auto&& function) __attribute__((always_inline)) {
      each([&](const V& a, const V& b) __attribute__((always_inline)) {
        V truth = T{0};
        where(function(a, b), truth) = T{1};
        return truth;
      });
    };
    switch (instruction.action) {
      case BlockAction::zero:
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) acc[v] = T{0};
        break;
      case BlockAction::load:
        each([](const V&, const V& m) __attribute__((always_inline)) { return m; });
        break;
      case BlockAction::load_stored: {
        const Storage* const m = stored(first);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) acc[v] = operands<V>(m + v * lanes);
        break;
      }
      case BlockAction::add:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return a + m; });
        break;
      case BlockAction::subtract:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return a - m; });
        break;
      case BlockAction::subtract_from:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return m - a; });
        break;
      case BlockAction::multiply:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return a * m; });
        break;
      case BlockAction::divide:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return a / m; });
        break;
      case BlockAction::divide_into:
        each([](const V& a, const V& m) __attribute__((always_inline)) { return m / a; });
        break;
      case BlockAction::negate:
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) acc[v] = -acc[v];
        break;
      case BlockAction::absolute:
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) where(!(acc[v] >= T{0}), acc[v]) = -acc[v];
        break;
      case BlockAction::square_root:
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) acc[v] = sqrt(acc[v]);
        break;
      case BlockAction::less:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a < m; });
        break;
      case BlockAction::less_equal:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a <= m; });
        break;
      case BlockAction::greater:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a > m; });
        break;
      case BlockAction::greater_equal:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a >= m; });
        break;
      case BlockAction::equal:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a == m; });
        break;
      case BlockAction::not_equal:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a != m; });
        break;
      case BlockAction::both:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a != T{0} && m != T{0}; });
        break;
      case BlockAction::either:
        compare([](const V& a, const V& m) __attribute__((always_inline)) { return a != T{0} || m != T{0}; });
        break;
      case BlockAction::select: {
        const T* const if_true = memory(first);
        const T* const if_false = memory(first + 1);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
          V value(if_false + v * lanes, std::experimental::element_aligned);
          where(acc[v] != T{0}, value) = V(if_true + v * lanes, std::experimental::element_aligned);
          acc[v] = value;
        }
        break;
      }
      case BlockAction::maximum:
        each([](const V& a, const V& m) __attribute__((always_inline)) {
          V largest = a;
          where(a < m, largest) = m;
          return largest;
        });
        break;
      case BlockAction::minimum:
        each([](const V& a, const V& m) __attribute__((always_inline)) {
          V least = a;
          where(m < a, least) = m;
          return least;
        });
        break;
      case BlockAction::taps:
        for (int k = first; k < first + instruction.count; ++k) {
          const T* const m = memory(k);
          const V weight = blocks.weights[k];
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v)
            acc[v] = fused(weight, V(m + v * lanes, std::experimental::element_aligned), acc[v]);
        }
        break;
      case BlockAction::taps_stored:
        for (int k = first; k < first + instruction.count; ++k) {
          const Storage* const m = stored(k);
          const V weight = blocks.weights[k];
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) acc[v] = fused(weight, operands<V>(m + v * lanes), acc[v]);
        }
        break;
      case BlockAction::save: {
        T* const m = memory(first);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) acc[v].copy_to(m + v * lanes, std::experimental::element_aligned);
        break;
      }
      case BlockAction::output: {
        Storage* const m = stored(first);
        if constexpr (std::is_same_v<T, Storage> && vectors == 8)
          if (instruction.bypasses_caches && reinterpret_cast<std::uintptr_t>(m) % cache_line == 0) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) store_non_temporal(acc[v], m + v * lanes);
            break;
          }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) store(acc[v], m + v * lanes);
        break;
      }
      case BlockAction::fetch:
        fetch<vectors * lanes>(memory(first), 0);
        break;
      case BlockAction::fetch_stored:
        fetch<vectors * lanes>(stored(first), 0);
        break;
      case BlockAction::call: {
        const int last = instruction.count - 1;
        const T* operands_of[max_operands];
        for (int k = 0; k < last; ++k) operands_of[k] = memory(first + k);
        blocks.call(instruction.operation, operands_of, last, vectors * lanes, memory(first + last));
        break;
      }
    }
  }
}

}  // namespace detail

/// Runs a list of instructions on the points [begin, end) of a row with vectors of type V. The last block may
/// overlap its neighbour; the same bits are then computed twice. Only slots may therefore be both read and
/// written.
template <class V, class Storage>
void run_blocks(const BoundBlocks<typename V::value_type>& blocks, std::int64_t begin, std::int64_t end) {
  constexpr auto lanes = static_cast<std::int64_t>(V::size());
  const auto run = [&]<int vectors>(std::integral_constant<int, vectors>) __attribute__((always_inline)) {
    constexpr std::int64_t points = vectors * lanes;
    std::int64_t x = begin;
    for (; x + points <= end; x += points) detail::run_block<V, vectors, Storage, V>(blocks, x);
    if (x < end) detail::run_block<V, vectors, Storage, V>(blocks, end - points);
  };
  if (end - begin >= 8 * lanes) return run(std::integral_constant<int, 8>{});
  if (end - begin >= 2 * lanes) return run(std::integral_constant<int, 2>{});
  if (end - begin >= lanes) return run(std::integral_constant<int, 1>{});
  using One = std::experimental::simd<typename V::value_type, std::experimental::simd_abi::scalar>;
  for (std::int64_t x = begin; x < end; ++x) detail::run_block<One, 1, Storage, V>(blocks, x);
}

#ifdef SPSOLVE_AVX512
/// Calls run_blocks with 512-bit vectors, compiled for x86-64-v4. T is double or float.
template <class T>
void run_blocks_avx512(const BoundBlocks<T>& blocks, std::int64_t begin, std::int64_t end);
#endif

}  // namespace spsolve
