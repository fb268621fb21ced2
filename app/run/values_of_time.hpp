// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/run/point_sources.hpp"
#include "app/setup/setup.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Describes the first value, among those of steps `first` to `last` - 1, that depends on time and that the
/// format of sums cannot hold: a scalar of the equations, a value of a wall, or a value of a point source.
/// Returns nothing if there is none. Collective.
std::string value_beyond_range(const Communicator& communicator, const Setup& setup, PointSources& sources,
                               std::int64_t first, std::int64_t last);

/// Does the same for the values of point sources at one step. They are added to the solution as they are,
/// while equations may not use a scalar or a wall at every step, as in `t > 0 ? 1/t : 0`. Collective.
std::string source_beyond_range(const Communicator& communicator, const Setup& setup, PointSources& sources,
                                std::int64_t step);

}  // namespace spsolve
