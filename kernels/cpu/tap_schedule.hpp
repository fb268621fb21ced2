// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

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
  std::vector<Index3> inputs;  // offsets from the first row of output along stream, cross and x, per input
  std::vector<Sum> weights;    // per input: a weight for each row of its segment
};

/// Returns the schedule of `rows` rows. `offsets` holds the offsets of the taps along stream, cross and x;
/// unless `rows` is 1, they are in ascending lexicographic order.
template <class Sum>
TapSchedule<Sum> make_tap_schedule(const std::vector<Index3>& offsets, const std::vector<Sum>& weights,
                                   int rows) {
  struct Use {
    Index3 input;
    int row;
    Sum weight;
  };
  std::vector<Use> uses;
  for (int row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < offsets.size(); ++k)
      uses.push_back({{offsets[k][0] + row, offsets[k][1], offsets[k][2]}, row, weights[k]});
  if (rows > 1)
    std::ranges::stable_sort(uses, {}, [](const Use& use) { return std::pair(use.input, use.row); });
  TapSchedule<Sum> schedule{rows, 0, {}, {}, {}};
  for (std::size_t begin = 0, end; begin < uses.size(); begin = end) {
    end = begin + 1;
    while (end < uses.size() && uses[end].input == uses[begin].input &&
           uses[end].row == uses[end - 1].row + 1)
      ++end;
    const TapSegment one{uses[begin].row, static_cast<int>(end - begin), 1};
    schedule.inputs.push_back(uses[begin].input);
    for (std::size_t use = begin; use < end; ++use) schedule.weights.push_back(uses[use].weight);
    if (!schedule.segments.empty() && schedule.segments.back().first == one.first &&
        schedule.segments.back().outputs == one.outputs)
      ++schedule.segments.back().inputs;
    else
      schedule.segments.push_back(one);
  }
  return schedule;
}

/// Returns the offsets of the taps of a stencil along stream, cross and x.
inline std::vector<Index3> tap_offsets(const Stencil& stencil, const Axes& axes) {
  std::vector<Index3> offsets;
  for (const Tap& tap : stencil.taps())
    offsets.push_back({tap.offset[axes.stream], tap.offset[axes.cross], tap.offset[x_axis]});
  return offsets;
}

/// Is the largest radius of stars that have kernels of their own.
constexpr int widest_star = 8;

/// Is the shortest row, in points, of a group of rows of a star: two of the widest vectors in fp32.
constexpr std::int64_t shortest_star_row = 2 * 64 / sizeof(float);

/// Returns the offsets of a star in ascending order: all points within `radius` of the centre on the three
/// axes.
inline std::vector<Index3> star_offsets(int radius) {
  std::vector<Index3> offsets;
  for (const std::size_t axis : {0, 1, 2})
    for (std::int64_t k = -radius; k <= radius; ++k) {
      Index3 offset{};
      offset[axis] = k;
      if (k != 0 || axis == 0) offsets.push_back(offset);
    }
  std::ranges::sort(offsets);
  return offsets;
}

/// Returns the radius of a 3D star with all of its points, for which there is a kernel, or 0 for other
/// offsets.
inline int star_radius(const std::vector<Index3>& offsets) {
  const int radius = static_cast<int>(offsets.size()) / 6;
  return radius >= 1 && radius <= widest_star && offsets == star_offsets(radius) ? radius : 0;
}

/// Returns the schedule of max_rows rows if star_radius() knows the taps. Its inputs are,
/// for each row, those across from the lowest to the highest; then those of the column along stream. Inputs
/// along x are points of the column's rows. There is one weight per tap.
inline std::optional<TapSchedule<double>> star_schedule(const std::vector<Index3>& offsets,
                                                        const std::vector<double>& weights) {
  const int radius = star_radius(offsets);
  if (radius == 0) return {};
  TapSchedule<double> schedule{max_rows, radius, {}, {}, weights};
  for (int row = 0; row < max_rows; ++row)
    for (int k = -radius; k <= radius; ++k)
      if (k != 0) schedule.inputs.push_back({row, k, 0});
  for (int plane = -radius; plane < max_rows + radius; ++plane) schedule.inputs.push_back({plane, 0, 0});
  return schedule;
}

/// Returns the schedule of max_rows rows if rows are computed in groups. 3D stars in fp64 and fp32 are. Other
/// stencils are if a group reads at most half of what its rows read one by one, as boxes do.
inline std::optional<TapSchedule<double>> group_schedule(const std::vector<Index3>& offsets,
                                                         const std::vector<double>& weights,
                                                         Precision precision) {
  if (precision == Precision::fp64 || precision == Precision::fp32)
    if (auto star = star_schedule(offsets, weights)) return star;
  if (!std::ranges::is_sorted(offsets)) return {};
  TapSchedule<double> group = make_tap_schedule(offsets, weights, max_rows);
  if (2 * group.inputs.size() > max_rows * offsets.size()) return {};
  return group;
}

/// Returns true if rows are computed in groups.
inline bool pays_in_groups(const std::vector<Index3>& offsets, Precision precision) {
  return group_schedule(offsets, std::vector<double>(offsets.size()), precision).has_value();
}

/// Returns a schedule with its weights in compute precision.
template <class Sum>
TapSchedule<Sum> converted(const TapSchedule<double>& schedule) {
  TapSchedule<Sum> result{schedule.rows, schedule.star, schedule.segments, schedule.inputs, {}};
  for (const double weight : schedule.weights) result.weights.push_back(static_cast<Sum>(weight));
  return result;
}

}  // namespace spsolve
