// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "io/input/config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// Reads [stencil]. Preset and weights are tried out, so every form that is returned makes a Stencil.
/// Throws Error(invalid_input) that names the line and the key.
StencilForm read_stencil(const TomlSection& section, const Grid& grid,
                         const std::filesystem::path& directory);

/// Returns the stencil of a form that needs no file, or nothing for a dataset. Throws std::invalid_argument.
std::optional<Stencil> make_stencil(const StencilForm& form, const Grid& grid);

}  // namespace spsolve
