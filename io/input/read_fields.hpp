// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "io/input/toml_section.hpp"

namespace spsolve {

/// Returns `name` if it is one of `fields`. Otherwise throws Error(invalid_input), naming line and key.
std::string known_field(const TomlSection& section, const char* key, const std::string& name,
                        const std::vector<std::string>& fields);

/// Reads the key `fields`, a list of some of the fields `known`. Returns them in the order of `known`, or an
/// empty list if all are meant, whether the key is absent or names them all. Throws Error(invalid_input),
/// naming line and key.
std::vector<std::string> read_fields(const TomlSection& section, const std::vector<std::string>& known);

}  // namespace spsolve
