// SPDX-License-Identifier: Apache-2.0
#pragma once

// Up to 3.4 toml++ asserts that a table header begins with a key; without the assertion "[!" is a parse
// error.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// What the source path of a value begins with that an override set.
inline constexpr std::string_view override_mark = "--set ";

/// Parses TOML and lays overrides ("section.key=value") over it; the source path of what they set is
/// "--set section.key=value". Throws Error(invalid_input) with `file_name` and the line.
toml::table parse_toml(std::string_view text, const std::string& file_name,
                       const std::vector<std::string>& overrides);

/// Returns a TOML basic string that stands for any UTF-8 text.
std::string toml_string(std::string_view text);

}  // namespace spsolve
