// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Returns checksums of the datasets that walls, point sources and probes read, by the keys that name them
/// ("point_sources.0.value", "probes.1.at", "boundary.u.x.low"). The values of a point source count for the
/// first steps only, so that a longer run may read a longer dataset: there is one result for each number of
/// `steps`. A dataset that cannot be read, or has fewer steps, is left out. Every dataset is read once.
/// Collective.
std::vector<ValueChecksums> checksums_of_tables(const Communicator& communicator, const RunConfig& config,
                                                const std::vector<std::int64_t>& steps);

/// Returns the keys of checksums_of_tables().
std::string at_of_source(std::size_t number);
std::string value_of_source(std::size_t number);
std::string at_of_probes(std::size_t number);
std::string value_of_wall(const std::string& field, int axis, int side);

}  // namespace spsolve
