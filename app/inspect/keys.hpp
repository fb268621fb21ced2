// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace spsolve {

/// Returns the text that `spsolve keys` prints for a section or a key of inputs, such as "grid", "time.dt" or
/// "boundary.x.low.robin", or for all keys if `path` is empty. Throws Error(invalid_input) if there is no
/// such key.
std::string text_of_keys(std::string_view path);

/// Returns the keys of a section as a table of Markdown, for the guide. Throws as text_of_keys().
std::string table_of_keys(std::string_view path);

}  // namespace spsolve
