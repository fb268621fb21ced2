// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/make_tap_schedule.hpp"

#include <algorithm>
#include <utility>

namespace spsolve {

TapSchedule<double> make_tap_schedule(const std::vector<Index3>& offsets, const std::vector<double>& weights,
                                      int rows) {
  struct Use {
    Index3 input;
    int row;
    double weight;
  };
  std::vector<Use> uses;
  for (int row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < offsets.size(); ++k)
      uses.push_back({{offsets[k][0] + row, offsets[k][1], offsets[k][2]}, row, weights[k]});
  if (rows > 1)
    std::ranges::stable_sort(uses, {}, [](const Use& use) { return std::pair(use.input, use.row); });
  TapSchedule<double> schedule{rows, 0, {}, {}, {}};
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

std::vector<Index3> tap_offsets(const Stencil& stencil, const Axes& axes) {
  std::vector<Index3> offsets;
  for (const Tap& tap : stencil.taps())
    offsets.push_back({tap.offset[axes.stream], tap.offset[axes.cross], tap.offset[x_axis]});
  return offsets;
}

std::vector<Index3> star_offsets(int radius) {
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

int star_radius(const std::vector<Index3>& offsets) {
  const int radius = static_cast<int>(offsets.size()) / 6;
  return radius >= 1 && radius <= widest_star && offsets == star_offsets(radius) ? radius : 0;
}

std::optional<TapSchedule<double>> star_schedule(const std::vector<Index3>& offsets,
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

std::optional<TapSchedule<double>> group_schedule(const std::vector<Index3>& offsets,
                                                  const std::vector<double>& weights, Precision precision) {
  if (precision == Precision::fp64 || precision == Precision::fp32)
    if (auto star = star_schedule(offsets, weights)) return star;
  if (!std::ranges::is_sorted(offsets)) return {};
  TapSchedule<double> group = make_tap_schedule(offsets, weights, max_rows);
  if (2 * group.inputs.size() > max_rows * offsets.size()) return {};
  return group;
}

bool pays_in_groups(const std::vector<Index3>& offsets, Precision precision) {
  return group_schedule(offsets, std::vector<double>(offsets.size()), precision).has_value();
}

}  // namespace spsolve
