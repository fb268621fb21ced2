// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "io/input/config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// Read [[point_sources]] and [[probes]]. Relative files start at `directory`. `config` holds the grid and
/// the fields. Both throw Error(invalid_input) naming line and key.
std::vector<PointSourceConfig> read_point_sources(const TomlSection& root, const RunConfig& config,
                                                  const std::filesystem::path& directory);
std::vector<ProbesConfig> read_probes(const TomlSection& root, const RunConfig& config,
                                      const std::filesystem::path& directory);

/// Throws Error(invalid_input) if a point lies outside the grid. On a periodic axis points between the last
/// and the first grid point are inside. The message begins with `what`.
void require_inside(const Grid& grid, const std::array<double, 3>& point, const std::string& what);

/// Returns the names that values of point sources may use, in this order: the coordinates x, y, z that the
/// grid has, coefficients, t, dt and step; and constants.
ExpressionNames names_at_point(const RunConfig& config);

/// Lists the names that values of point sources may use besides coordinates and coefficients.
inline constexpr std::array<const char*, 3> names_of_time{"t", "dt", "step"};

}  // namespace spsolve
