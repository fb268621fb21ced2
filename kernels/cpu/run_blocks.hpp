// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/register_block.hpp"

namespace spsolve {

namespace detail {

/// Runs all instructions on the points [x, x + vectors * V::size()). `Widest` is the vector type of the
/// caller: it keeps versions for different processors apart.
template <class V, int vectors, class Storage, class Widest>
inline void run_block(const BoundBlocks<typename V::value_type>& blocks, std::int64_t x) {
  RegisterBlock<V, vectors, Storage> block(blocks, x);
  for (int i = 0; i < blocks.count; ++i) block.run(blocks.instructions[i]);
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
