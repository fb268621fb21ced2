// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/block_instruction.hpp"
#include "kernels/cpu/correlate_rows.hpp"

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
  if constexpr (action == zero) return zeros;
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

/// Holds the accumulators of a block of neighbouring points of a row in registers, and runs instructions on
/// them. An instruction costs one load from the first-level cache per operand and vector.
template <class V, int vectors, class Storage>
class RegisterBlock {
  using T = typename V::value_type;
  using Blocks = BoundBlocks<T>;
  static constexpr int lanes = static_cast<int>(V::size()), points = vectors * lanes;

 public:
  /// Holds the points [x, x + points) of the row that `blocks` is bound to.
  [[gnu::always_inline]] RegisterBlock(const Blocks& blocks, std::int64_t x) : blocks_(blocks), x_(x) {
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
        return load_from(at<Storage>(first));
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
        return choose(at<T>(first), at<T>(first + 1));
      case taps:
        return add_taps<T>(instruction);
      case taps_stored:
        return add_taps<Storage>(instruction);
      case save:
        return store_to(at<T>(first));
      case output:
        return write(at<Storage>(first), instruction.bypasses_caches);
      case fetch:
        return detail::fetch<points>(at<T>(first), 0);
      case fetch_stored:
        return detail::fetch<points>(at<Storage>(first), 0);
      case call:
        return call_operation(instruction);
    }
  }

 private:
  /// Returns the address of an operand at the first point of the block.
  template <class Value>
  [[gnu::always_inline]] Value* at(int operand) const {
    return static_cast<Value*>(blocks_.at[operand]) + (x_ & blocks_.mask[operand]);
  }
  template <class Value>
  [[gnu::always_inline]] static V vector(const Value* m, int v) {
    return operands<V>(m + v * lanes);
  }

  template <BlockAction action>
  [[gnu::always_inline]] void accumulate() {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sums_[v] = accumulated<action>(sums_[v], V());
  }
  template <BlockAction action>
  [[gnu::always_inline]] void accumulate(int operand) {
    const T* const m = at<T>(operand);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sums_[v] = accumulated<action>(sums_[v], vector(m, v));
  }
  [[gnu::always_inline]] void load_from(const Storage* m) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sums_[v] = vector(m, v);
  }
  [[gnu::always_inline]] void choose(const T* if_true, const T* if_false) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      sums_[v] = chosen(sums_[v] != T{0}, vector(if_true, v), vector(if_false, v));
  }
  template <class Value>
  [[gnu::always_inline]] void add_taps(const BlockInstruction& instruction) {
    for (int k = instruction.first; k < instruction.first + instruction.count; ++k) {
      const Value* const m = at<Value>(k);
      const V weight = blocks_.weights[k];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums_[v] = fused(weight, vector(m, v), sums_[v]);
    }
  }
  template <class Value>
  [[gnu::always_inline]] void store_to(Value* m) const {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(sums_[v], m + v * lanes);
  }
  [[gnu::always_inline]] void write(Storage* m, bool bypasses_caches) const {
    if constexpr (std::is_same_v<T, Storage> && vectors == 8)
      if (bypasses_caches && reinterpret_cast<std::uintptr_t>(m) % cache_line == 0) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) store_non_temporal(sums_[v], m + v * lanes);
        return;
      }
    store_to(m);
  }
  [[gnu::always_inline]] void call_operation(const BlockInstruction& instruction) const {
    const int last = instruction.count - 1;
    const T* inputs[max_operands];
    for (int k = 0; k < last; ++k) inputs[k] = at<T>(instruction.first + k);
    blocks_.call(instruction.operation, inputs, last, points, at<T>(instruction.first + last));
  }

  const Blocks& blocks_;
  std::int64_t x_;
  V sums_[vectors];
};

}  // namespace spsolve::detail
