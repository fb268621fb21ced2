// SPDX-License-Identifier: Apache-2.0
#pragma once

// Points of a march of several steps to which amounts are added, or whose values are recorded. Every thread
// goes through a list of what it does with its own points, in the order of iterations (tile_points.hpp), so
// that an iteration without points costs a comparison.

#include "kernels/cuda/system/group_values.cuh"

namespace spsolve::cuda {
namespace {

class TilePoints {
 public:
  __device__ explicit TilePoints(const GroupArguments& a) {
    if (!a.points.first) return;
    next_ = a.points.first[blockIdx.x * constants::threads + threadIdx.x];
    iteration_ = a.points.events[next_].iteration;
  }

  /// Does what there is to do with the values that iteration n has computed. `value_at` returns a reference
  /// to the newest value of a level, statement and row, which are compile-time numbers.
  template <class ValueAt>
  __device__ void work(const GroupArguments& a, int n, const ValueAt& value_at) {
    while (__builtin_expect(n == iteration_, 0)) {
      const PointEvent event = a.points.events[next_];
      iteration_ = a.points.events[++next_].iteration;
      Compute value = 0;
      for_value(event, [&](auto level, auto s, auto r) { value = value_at(level, s, r); });
      value = operations::as_stored<Stored>(value);
      const int level = event.value / (constants::statements * constants::rows_of_thread) + 1;
      if (event.group >= 0) {
        record(a.points.groups[event.group], a.points.step + level, event.column, value);
        continue;
      }
      value += static_cast<const Compute*>(a.points.amounts)[(level - 1) * a.points.columns + event.column];
      for_value(event, [&](auto of_level, auto s, auto r) {
        value_at(of_level, s, r) = operations::as_stored<Stored>(value);
      });
    }
  }

 private:
  /// Calls visit(level, statement, row) with those of an event: what a thread holds has no address.
  template <class Visit>
  __device__ static void for_value(const PointEvent& event, const Visit& visit) {
    constexpr int rows = constants::rows_of_thread, statements = constants::statements;
    static_for<0, constants::steps * statements * rows>([&](auto number) {
      constexpr int value = decltype(number)::value;
      if (event.value == value)
        visit(Int<value / (statements * rows) + 1>(), Int<value / rows % statements>(), Int<value % rows>());
    });
  }
  __device__ static void record(const RecordedGroup& group, unsigned step, int column, Compute value) {
    const unsigned row = step / group.every;
    if (row * group.every == step)
      static_cast<Compute*>(group.values)[row % group.rows * group.columns + column] = value;
  }

  int next_ = 0, iteration_ = no_iteration;
};

}  // namespace
}  // namespace spsolve::cuda
