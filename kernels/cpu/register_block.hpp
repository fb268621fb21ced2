// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/block_instruction.hpp"
#include "kernels/cpu/star_rows.hpp"

namespace spsolve::detail {

// Every function of this file is always inlined. Accumulators therefore stay in registers, and the linker
// finds no code for wide vectors under a name that older processors use.

/// Returns, lane by lane, `a` where the mask is set and `b` elsewhere.
template <class V>
[[gnu::always_inline]] inline V chosen(const typename V::mask_type& mask, const V& a, const V& b) {
  V value = b;
  where(mask, value) = a;
  return value;
}

/// Returns the new accumulator of an action with at most one operand, from the accumulator `a` and the value
/// `m` of the operand.
template <BlockAction action, class V>
[[gnu::always_inline]] inline V accumulated(const V& a, const V& m) {
  using enum BlockAction;
  const V zeros = 0, ones = 1;
  if constexpr (action == zero) return -zeros;
  if constexpr (action == load) return m;
  if constexpr (action == add) return a + m;
  if constexpr (action == subtract) return a - m;
  if constexpr (action == subtract_from) return m - a;
  if constexpr (action == multiply) return a * m;
  if constexpr (action == divide) return a / m;
  if constexpr (action == divide_into) return m / a;
  if constexpr (action == negate) return -a;
  if constexpr (action == absolute) return chosen(!(a >= zeros), -a, a);
  if constexpr (action == square_root) return sqrt(a);
  if constexpr (action == less) return chosen(a < m, ones, zeros);
  if constexpr (action == less_equal) return chosen(a <= m, ones, zeros);
  if constexpr (action == greater) return chosen(a > m, ones, zeros);
  if constexpr (action == greater_equal) return chosen(a >= m, ones, zeros);
  if constexpr (action == equal) return chosen(a == m, ones, zeros);
  if constexpr (action == not_equal) return chosen(a != m, ones, zeros);
  if constexpr (action == both) return chosen(a != zeros && m != zeros, ones, zeros);
  if constexpr (action == either) return chosen(a != zeros || m != zeros, ones, zeros);
  if constexpr (action == maximum) return chosen(a < m, m, a);
  if constexpr (action == minimum) return chosen(m < a, m, a);
}

/// Holds the accumulators of a block of points in registers, and runs instructions on them: `vectors` vectors
/// of the same row of `planes` neighbouring planes. An instruction costs one load from the first-level cache
/// per operand and vector.
template <class V, int planes, int vectors, class Storage>
class RegisterBlock {
  using Scalar = typename V::value_type;
  using Blocks = BoundBlocks<Scalar>;
  static constexpr int lanes = static_cast<int>(V::size()), points = vectors * lanes;

 public:
  /// Holds the points [x, x + points) of the rows that `blocks` is bound to. Earlier blocks have computed the
  /// points before `begin`.
  [[gnu::always_inline]] RegisterBlock(const Blocks& blocks, std::int64_t x, std::int64_t begin)
      : blocks_(blocks), x_(x), begin_(begin) {
    accumulate<BlockAction::zero>();
  }

  [[gnu::always_inline]] void run(const BlockInstruction& instruction) {
    using enum BlockAction;
    const int first = instruction.first;
    switch (instruction.action) {
      case zero:
        return accumulate<zero>();
      case load:
        return accumulate<load>(first);
      case load_stored:
        return load_from<Storage>(first);
      case add:
        return accumulate<add>(first);
      case subtract:
        return accumulate<subtract>(first);
      case subtract_from:
        return accumulate<subtract_from>(first);
      case multiply:
        return accumulate<multiply>(first);
      case divide:
        return accumulate<divide>(first);
      case divide_into:
        return accumulate<divide_into>(first);
      case negate:
        return accumulate<negate>();
      case absolute:
        return accumulate<absolute>();
      case square_root:
        return accumulate<square_root>();
      case less:
        return accumulate<less>(first);
      case less_equal:
        return accumulate<less_equal>(first);
      case greater:
        return accumulate<greater>(first);
      case greater_equal:
        return accumulate<greater_equal>(first);
      case equal:
        return accumulate<equal>(first);
      case not_equal:
        return accumulate<not_equal>(first);
      case both:
        return accumulate<both>(first);
      case either:
        return accumulate<either>(first);
      case maximum:
        return accumulate<maximum>(first);
      case minimum:
        return accumulate<minimum>(first);
      case select:
        return choose(first, first + 1);
      case taps:
        return add_taps<Scalar>(instruction);
      case taps_stored:
        return add_taps<Storage>(instruction);
      case star:
        return add_star(instruction);
      case save:
        return store_to<Scalar>(first);
      case output:
        return write(first, instruction.bypasses_caches);
      case fetch:
        return fetch_rows<Scalar>(first);
      case fetch_stored:
        return fetch_rows<Storage>(first);
      case call:
        return call_operation(instruction);
    }
  }

 private:
  /// Returns the address of an operand at the first point of the block in a plane.
  template <class Value>
  [[gnu::always_inline]] Value* at(int operand, int plane) const {
    const auto row = static_cast<std::byte*>(blocks_.at[operand]) + plane * blocks_.plane_pitch[operand];
    return reinterpret_cast<Value*>(row) + (x_ & blocks_.mask[operand]);
  }
  template <class Value>
  [[gnu::always_inline]] static V vector(const Value* m, int v) {
    return operands<V>(m + v * lanes);
  }

  /// Calls `visit` with the rows of an operand and the sums of each plane.
  template <class Value, class Visit>
  [[gnu::always_inline]] void for_each_row(int operand, const Visit& visit) {
#pragma GCC unroll 4
    for (int p = 0; p < planes; ++p) visit(at<Value>(operand, p), sums_[p]);
  }

  template <BlockAction action>
  [[gnu::always_inline]] void accumulate() {
#pragma GCC unroll 4
    for (auto& sums : sums_)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[v] = accumulated<action>(sums[v], V());
  }
  template <BlockAction action>
  [[gnu::always_inline]] void accumulate(int operand) {
    for_each_row<Scalar>(
        operand, [](const Scalar* m, V* sums) __attribute__((always_inline)) {
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) sums[v] = accumulated<action>(sums[v], vector(m, v));
        });
  }
  template <class Value>
  [[gnu::always_inline]] void load_from(int operand) {
    for_each_row<Value>(
        operand, [](const Value* m, V* sums) __attribute__((always_inline)) {
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) sums[v] = vector(m, v);
        });
  }
  [[gnu::always_inline]] void choose(int if_true, int if_false) {
#pragma GCC unroll 4
    for (int p = 0; p < planes; ++p) {
      const Scalar *const a = at<Scalar>(if_true, p), *const b = at<Scalar>(if_false, p);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        sums_[p][v] = chosen(sums_[p][v] != Scalar{0}, vector(a, v), vector(b, v));
    }
  }
  template <class Value>
  [[gnu::always_inline]] void add_taps(const BlockInstruction& instruction) {
    for (int k = instruction.first; k < instruction.first + instruction.count; ++k) {
      const V weight = blocks_.weights[k];
      for_each_row<Value>(
          k, [&](const Value* m, V* sums) __attribute__((always_inline)) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[v] = fused(weight, vector(m, v), sums[v]);
          });
    }
  }
  [[gnu::always_inline]] void add_star(const BlockInstruction& instruction) {
    if constexpr (planes == max_rows) {
      const int centre = instruction.first + instruction.count / 2;
      const auto* const middle = reinterpret_cast<const std::byte*>(at<Scalar>(centre, 0));
      V sums[max_rows][2];
      copy_sums(sums_, sums);
      const auto choose_radius = [&]<int... n>(std::integer_sequence<int, n...>)
          __attribute__((always_inline)) {
        ((instruction.count == 6 * (n + 1) + 1
              ? add_star_to<n + 1>(sums, middle, blocks_.plane_pitch[centre], blocks_.pitch[centre],
                                   blocks_.weights + instruction.first)
              : void()),
         ...);
      };
      choose_radius(std::make_integer_sequence<int, widest_star>{});
      copy_sums(sums, sums_);
    } else {
      add_taps<Scalar>(instruction);
    }
  }
  using BlockSums = V[planes][vectors];
  [[gnu::always_inline]] static void copy_sums(const BlockSums& from, BlockSums& to) {
#pragma GCC unroll 4
    for (int p = 0; p < planes; ++p)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) to[p][v] = from[p][v];
  }
  template <class Value>
  [[gnu::always_inline]] void store_to(int operand) {
    for_each_row<Value>(
        operand, [](Value * m, const V* sums) __attribute__((always_inline)) {
#pragma GCC unroll 8
          for (int v = 0; v < vectors; ++v) store(sums[v], m + v * lanes);
        });
  }
  [[gnu::always_inline]] void write(int operand, bool bypasses_caches) {
    if constexpr (std::is_same_v<Scalar, Storage>)
      if (bypasses_caches) {
        const Range& past = blocks_.past_caches;
        if constexpr (vectors <= 2)
          if (const std::int64_t first = std::min(begin_, past.end); x_ < first)
            return store_rest(
                sums_, [&](int plane) __attribute__((always_inline)) { return at<Scalar>(operand, plane); },
                x_, first, past);
        if (may_bypass<V>(at<Scalar>(operand, 0), {x_, x_ + points}, past)) {
          for_each_row<Scalar>(
              operand, [](Scalar * m, const V* sums) __attribute__((always_inline)) {
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) store_non_temporal(sums[v], m + v * lanes);
              });
          return;
        }
      }
    store_to<Storage>(operand);
  }
  template <class Value>
  [[gnu::always_inline]] void fetch_rows(int operand) {
    for_each_row<Value>(
        operand,
        [](const Value* m, const V*) __attribute__((always_inline)) { detail::fetch_ahead<points>(m); });
  }
  [[gnu::always_inline]] void call_operation(const BlockInstruction& instruction) const {
    const int last = instruction.count - 1;
    const Scalar* inputs[max_operands];
    for (int p = 0; p < planes; ++p) {
      for (int k = 0; k < last; ++k) inputs[k] = at<Scalar>(instruction.first + k, p);
      blocks_.call(instruction.operation, inputs, last, points, at<Scalar>(instruction.first + last, p));
    }
  }

  const Blocks& blocks_;
  std::int64_t x_;
  std::int64_t begin_;
  V sums_[planes][vectors];
};

}  // namespace spsolve::detail
