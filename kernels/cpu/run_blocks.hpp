// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/register_block.hpp"

namespace spsolve {

namespace detail {

/// Runs all instructions on the points [x, x + vectors * V::size()) of each plane. Earlier blocks have
/// computed those before `begin`. `Widest` is the vector type of the caller: it keeps versions for different
/// processors apart.
template <class V, int planes, int vectors, class Storage, class Widest>
inline void run_block(const BoundBlocks<typename V::value_type>& blocks, std::int64_t x, std::int64_t begin) {
  RegisterBlock<V, planes, vectors, Storage> block(blocks, x, begin);
  for (int i = 0; i < blocks.count; ++i) block.run(blocks.instructions[i]);
}

/// Runs blocks from x on, as long as whole blocks end by `end`, and returns the end of the last.
template <class V, int planes, int vectors, class Storage>
std::int64_t run_whole_blocks(const BoundBlocks<typename V::value_type>& blocks, std::int64_t x,
                              std::int64_t end) {
  constexpr std::int64_t points = vectors * static_cast<std::int64_t>(V::size());
  for (; x + points <= end; x += points) run_block<V, planes, vectors, Storage, V>(blocks, x, x);
  return x;
}

}  // namespace detail

/// Runs a list of instructions on the points [begin, end) of each row with vectors of type V. Rows of several
/// planes have at least two vectors, and their fields are stored in compute precision. The last block may
/// overlap its neighbour; the same bits are then computed twice. Only slots may therefore be both read and
/// written.
template <class V, class Storage>
void run_blocks(const BoundBlocks<typename V::value_type>& blocks, std::int64_t begin, std::int64_t end) {
  constexpr auto lanes = static_cast<std::int64_t>(V::size());
  std::int64_t x = begin;
  if constexpr (std::is_same_v<typename V::value_type, Storage>)
    if (blocks.planes > 1) {
      x = detail::run_whole_blocks<V, max_rows, 2, Storage>(blocks, x, end);
      if (x < end) detail::run_block<V, max_rows, 2, Storage, V>(blocks, end - 2 * lanes, x);
      return;
    }
  if (end - begin >= lanes) {
    // A block bypasses the caches with all of its points or with none.
    for (const std::int64_t edge : {blocks.past_caches.begin, blocks.past_caches.end, end}) {
      if (x >= edge) continue;
      const std::int64_t last = std::min(edge, end);
      x = detail::run_whole_blocks<V, 1, 8, Storage>(blocks, x, last);
      x = detail::run_whole_blocks<V, 1, 2, Storage>(blocks, x, last);
      x = detail::run_whole_blocks<V, 1, 1, Storage>(blocks, x, last);
    }
    if (x < end) detail::run_block<V, 1, 1, Storage, V>(blocks, end - lanes, x);
    return;
  }
  for (; x < end; ++x)
    detail::run_block<detail::ScalarVector<typename V::value_type>, 1, 1, Storage, V>(blocks, x, x);
}

#ifdef SPSOLVE_AVX512
/// Calls run_blocks with 512-bit vectors, compiled for x86-64-v4. T is double or float.
template <class T>
void run_blocks_avx512(const BoundBlocks<T>& blocks, std::int64_t begin, std::int64_t end);
#endif

}  // namespace spsolve
