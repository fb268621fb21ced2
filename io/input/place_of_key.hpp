// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.hpp"

namespace spsolve {

/// Returns the place of a key in an input, for the start of a message: "heat3d.toml:12: ", or
/// "--set time.fuse=3: " for a key that an override sets. If the section does not have the key, its own line
/// is returned; an input without the section gives an empty text. The last three arguments are those of
/// parse_config(), which has read the input.
std::string place_of_key(const InputKey& key, std::string_view text, const std::filesystem::path& file_name,
                         const std::vector<std::string>& overrides);

}  // namespace spsolve
