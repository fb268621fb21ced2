// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file adds amounts to points of a march of several steps and records values. Every thread goes through
// a list of what it does with its own points, in the order of iterations and levels (tile_points.hpp), so
// that a level without points costs a comparison.

#include "kernels/cuda/system/group_values.cuh"

namespace spsolve::cuda {
namespace {

class TilePoints {
 public:
  __device__ explicit TilePoints(const GroupArguments& a) {
    if (a.points.first) load(a, a.points.first[blockIdx.x * constants::threads + threadIdx.x]);
  }

  /// Does what there is to do with the values of a level that iteration n has computed. `value_at` returns a
  /// reference to the newest value of a statement at a row and column of the thread, which are compile-time
  /// numbers.
  template <int level, class ValueAt>
  __device__ void work(const GroupArguments& a, int n, const ValueAt& value_at) {
    while (__builtin_expect(n * constants::steps + level - 1 == event_.turn, 0)) {
      const PointEvent event = event_;
      load(a, next_);
      Compute value = 0;
      for_value(event, [&](auto s, auto r, auto e) { value = value_at(s, r, e); });
      value = operations::as_stored<Stored>(value);
      if (event.group >= 0) {
        const bool in_arguments = event.group < few_groups;
        record(in_arguments ? a.points.first_groups[event.group] : a.points.groups[event.group],
               a.points.step + level, event.column, value);
        continue;
      }
      value += static_cast<const Compute*>(a.points.amounts)[(level - 1) * a.points.columns + event.column];
      for_value(event,
                [&](auto s, auto r, auto e) { value_at(s, r, e) = operations::as_stored<Stored>(value); });
    }
  }

 private:
  /// Calls visit(statement, row, column) with those of an event: what a thread holds has no address.
  template <class Visit>
  __device__ static void for_value(const PointEvent& event, const Visit& visit) {
    constexpr int rows = constants::rows_of_thread, columns = constants::columns_of_thread;
    static_for<0, constants::statements * rows * columns>([&](auto number) {
      constexpr int value = decltype(number)::value;
      if (event.value == value)
        visit(Int<value / (rows * columns)>(), Int<value / columns % rows>(), Int<value % columns>());
    });
  }
  __device__ static void record(const RecordedGroup& group, unsigned step, int column, Compute value) {
    const unsigned row = step / group.every;
    if (row * group.every == step)
      static_cast<Compute*>(group.values)[row % group.rows * group.columns + column] = value;
  }
  /// Loads an event long before its turn: nobody waits for it.
  __device__ void load(const GroupArguments& a, int number) {
    event_ = a.points.events[number];
    next_ = number + 1;
  }

  PointEvent event_{no_turn, 0, 0, 0};
  int next_ = 0;  // after that event
};

}  // namespace
}  // namespace spsolve::cuda
