// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/input/toml_section.hpp"
#include "io/walls_config.hpp"
#include "kernels/domain.hpp"

namespace spsolve {

/// Reads the faces that a section names, as in [boundary]. Besides faces the section may hold sections of
/// `fields`. Formulas are not checked. Throws Error(invalid_input) that names the line and the key.
void read_boundary(const TomlSection& section, Domain& domain, WallsConfig& walls,
                   const std::vector<std::string>& fields, const std::filesystem::path& directory);

}  // namespace spsolve
