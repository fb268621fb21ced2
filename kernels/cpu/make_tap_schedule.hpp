// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/tap_schedule.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Returns the schedule of `rows` rows. `offsets` holds the offsets of the taps along stream, cross and x;
/// unless `rows` is 1, they are in ascending lexicographic order.
TapSchedule<double> make_tap_schedule(const std::vector<Index3>& offsets, const std::vector<double>& weights,
                                      int rows);

/// Returns the offsets of the taps of a stencil along stream, cross and x.
std::vector<Index3> tap_offsets(const Stencil& stencil, const Axes& axes);

/// Returns the offsets of a star in ascending order: all points within `radius` of the centre on the three
/// axes.
std::vector<Index3> star_offsets(int radius);

/// Returns the radius of a 3D star with all of its points, for which there is a kernel, or 0 for other
/// offsets.
int star_radius(const std::vector<Index3>& offsets);

/// Returns the schedule of max_rows rows if star_radius() knows the taps. Its inputs are, for each row, those
/// across from the lowest to the highest; then those of the column along stream. Inputs along x are points of
/// the column's rows. There is one weight per tap.
std::optional<TapSchedule<double>> star_schedule(const std::vector<Index3>& offsets,
                                                 const std::vector<double>& weights);

/// Returns the schedule of max_rows rows if rows are computed in groups. 3D stars in fp64 and fp32 are. Rows
/// of other stencils are if a group reads at most half as many values as its rows read one by one, as in
/// boxes.
std::optional<TapSchedule<double>> group_schedule(const std::vector<Index3>& offsets,
                                                  const std::vector<double>& weights, Precision precision);

/// Returns true if rows are computed in groups.
bool pays_in_groups(const std::vector<Index3>& offsets, Precision precision);

}  // namespace spsolve
