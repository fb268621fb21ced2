// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

// This file holds what vector code reads of a schedule. make_tap_schedule.hpp makes schedules.

namespace spsolve {

/// Is the largest number of rows that are computed together.
constexpr int max_rows = 4;

/// Describes neighbouring inputs that are added to the same rows of output: `outputs` rows from `first` on.
struct TapSegment {
  int first, outputs, inputs;
};

/// Orders the reads of a group of output rows, one per plane of `rows` consecutive planes: an input is read
/// once and added to all rows of output that have a tap there. Each row still adds its taps in the order of
/// the stencil, so its bits are those of a group of one row.
template <class Sum>
struct TapSchedule {
  int rows = 1;
  int star = 0;  // the radius if the taps are a star, whose rows star_rows.hpp computes; else 0
  std::vector<TapSegment> segments;  // none for stars
  /// Holds, per input, its offsets from the first row of output along stream, cross and x.
  std::vector<std::array<std::int64_t, 3>> inputs;
  std::vector<Sum> weights;  // per input: a weight for each row of its segment
};

/// Is the largest radius of stars that have kernels of their own.
constexpr int widest_star = 8;

/// Is the shortest row, in points, of a group of rows of a star: two of the widest vectors in fp32.
constexpr std::int64_t shortest_star_row = 2 * 64 / sizeof(float);

/// Returns a schedule with its weights in compute precision.
template <class Sum>
TapSchedule<Sum> converted(const TapSchedule<double>& schedule) {
  TapSchedule<Sum> result{schedule.rows, schedule.star, schedule.segments, schedule.inputs, {}};
  for (const double weight : schedule.weights) result.weights.push_back(static_cast<Sum>(weight));
  return result;
}

}  // namespace spsolve
