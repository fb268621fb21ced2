// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/grid.hpp"
#include "io/input/config.hpp"
#include "io/input/equations_config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// Returns the names of the sections [fields.<name>] in the order of the text.
std::vector<std::string> field_names_of(const TomlSection& root);

/// Reads [equations], [fields], [boundary.<field>], [coefficients], [constants] and [stencils]; returns
/// nothing without [equations]. Relative files start at `directory`. `grid` holds the walls of [boundary].
/// Throws Error(invalid_input) naming line, key and column.
std::optional<EquationsConfig> read_equations(const TomlSection& root, const Grid& grid,
                                              const std::filesystem::path& directory);

/// Returns the names that the value of a wall across `axis` may use, in this order: coordinates x, y, z of
/// the other axes that the grid has, t, dt and step; and constants. The first coordinate varies along a line.
ExpressionNames names_on_face(const Grid& grid, int axis,
                              const std::map<std::string, double, std::less<>>& constants);

/// Returns equations that replace [stencil], [initial] and [source] if walls are filled or the source depends
/// on time. Returns nothing if a stencil suffices. Throws as read_equations().
std::optional<EquationsConfig> equations_of_stencil(const TomlSection& root, const RunConfig& config);
/// Returns the equations that [stencil], [initial] and [source] amount to, whether they suffice or not.
EquationsConfig equations_of_stencil(const RunConfig& config);

/// Looks up every name in the statements. `has_dt` is true if the input gives the length of a step. Throws
/// Error(invalid_input) naming line and column of the error.
void check_equations(const TomlSection& root, const EquationsConfig& equations, const Grid& grid, double dt,
                     bool has_dt);

}  // namespace spsolve
