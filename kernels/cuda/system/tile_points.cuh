// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file adds amounts to points of a march of several steps and records values. A block knows the
// iterations in which any of its threads works on points, and only they run code that looks for points. In
// these iterations every thread goes through a list of the work on its own points, in the order of iterations
// and levels (tile_points.hpp).

#include "kernels/cuda/system/group_values.cuh"

namespace spsolve::cuda {
namespace {

class TilePoints {
 public:
  __device__ explicit TilePoints(const GroupArguments& a) : a_(a) {
    if (!a.points.first_iteration) return;
    place_ = a.points.first_iteration[blockIdx.x];
    iteration_ = a.points.iterations[place_];
    number_ = a.points.first[blockIdx.x * constants::threads + threadIdx.x];
  }

  /// Returns the next iteration in which a thread of the block works on points.
  __device__ int next_iteration() const { return iteration_; }
  /// Begins next_iteration().
  __device__ void begin() {
    iteration_ = a_.points.iterations[++place_];
    event_ = a_.points.events[number_];
  }

  /// Does the work on the values of a level that iteration n has computed; begin() was called for n.
  /// `value_at` returns a reference to the newest value of a statement at a row and column of the thread,
  /// which are compile-time numbers.
  template <int level, class ValueAt>
  __device__ void work(int n, const ValueAt& value_at) {
    while (event_.turn == n * constants::steps + level - 1) {
      const PointEvent event = event_;
      event_ = a_.points.events[++number_];
      if (event.what < 0)
        add(event, static_cast<const Compute*>(a_.points.amounts) + (level - 1) * a_.points.columns,
            value_at);
      else
        record(event, a_.points.step + level, value_at);
    }
  }

 private:
  template <class ValueAt>
  __device__ void add(const PointEvent& event, const Compute* amounts, const ValueAt& value_at) const {
    for_each_value(event, value_at, [&](Compute& value, int column) {
      value = operations::as_stored<Stored>(operations::as_stored<Stored>(value) + amounts[column]);
    });
  }
  template <class ValueAt>
  __device__ void record(const PointEvent& event, unsigned step, const ValueAt& value_at) const {
    const int number = event.what >> 16;
    const RecordedGroup group =
        number < few_groups ? a_.points.first_groups[number] : a_.points.groups[number];
    const unsigned row = step / group.every;
    if (row * group.every != step) return;
    Compute* const values = static_cast<Compute*>(group.values) + row % group.rows * group.columns;
    for_each_value(event, value_at,
                   [&](Compute value, int column) { values[column] = operations::as_stored<Stored>(value); });
  }
  /// Calls visit(value, column) for the values of an event. Registers have no address, so the code tests
  /// every value of the thread. All columns are loaded before the first visit, so that the thread waits once.
  template <class ValueAt, class Visit>
  __device__ void for_each_value(const PointEvent& event, const ValueAt& value_at, const Visit& visit) const {
    constexpr int rows = constants::rows_of_thread, columns = constants::columns_of_thread;
    static_assert(rows * columns <= 32);
    const int* const first = a_.points.event_columns + event.first_column;
    int column[rows * columns];
#pragma unroll
    for (int bit = 0; bit < rows * columns; ++bit)
      if (event.values >> bit & 1) column[bit] = first[__popc(event.values & ((1u << bit) - 1))];
    static_for<0, constants::statements>([&](auto s) {
      if ((event.what & 0xffff) != decltype(s)::value) return;
      static_for<0, rows * columns>([&](auto number) {
        constexpr int bit = decltype(number)::value;
        if (event.values >> bit & 1)
          visit(value_at(s, Int<bit / columns>(), Int<bit % columns>()), column[bit]);
      });
    });
  }

  const GroupArguments& a_;
  int iteration_ = no_turn;  // the next one with events
  int place_ = 0;            // place of the iteration in the list
  int number_ = 0;           // number of the next event of the thread
  PointEvent event_;         // while an iteration works on points
};

}  // namespace
}  // namespace spsolve::cuda
