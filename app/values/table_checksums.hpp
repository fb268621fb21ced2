// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/setup/tables.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Returns checksums of the datasets that walls, point sources and probes read, by the keys that name them
/// ("point_sources.0.value", "probes.1.at", "boundary.u.x.low"). The values of a point source count for the
/// first `steps` steps only, so that a longer run may read a longer dataset. A dataset that cannot be read,
/// or has fewer steps, is left out. Collective.
ValueChecksums checksums_of_tables(Tables& tables, const RunConfig& config, std::int64_t steps);

/// Returns the keys of checksums_of_tables().
std::string at_of_source(std::size_t number);
std::string value_of_source(std::size_t number);
std::string at_of_probes(std::size_t number);
std::string value_of_wall(const std::string& field, int axis, int side);

}  // namespace spsolve
