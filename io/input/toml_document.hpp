// SPDX-License-Identifier: Apache-2.0
#pragma once

// Up to 3.4 toml++ asserts that a table header begins with a key; without the assertion "[!" is a parse
// error.
#define TOML_ASSERT(expression) static_assert(true)
// The functions of toml++ are compiled once, in toml_document.cpp.
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// Is the prefix of the source path of every value that an override set.
inline constexpr std::string_view override_mark = "--set ";

/// Parses TOML and applies overrides ("section.key=value"). The source path of a value that an override set
/// is "--set section.key=value". Throws Error(invalid_input) with `file_name` and the line.
toml::table parse_toml(std::string_view text, const std::string& file_name,
                       const std::vector<std::string>& overrides);

/// Returns a TOML basic string for any UTF-8 text.
std::string toml_string(std::string_view text);

}  // namespace spsolve
