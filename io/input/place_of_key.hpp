// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// Returns a message that begins with "[section] key", as those of the plan do, with the place of the key in
/// the input before it: "heat3d.toml:12: [time] fuse ...", or "--set time.fuse=3: [time] fuse ..." for a key
/// that an override sets. Messages of other forms, and of sections that the input does not have, come back as
/// they are. The arguments are those of parse_config(), which has read the input.
std::string with_place_of_key(const std::string& message, std::string_view text,
                              const std::filesystem::path& file_name,
                              const std::vector<std::string>& overrides);

}  // namespace spsolve
