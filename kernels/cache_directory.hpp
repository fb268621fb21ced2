// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace spsolve {

/// Returns the directory of compiled kernels and measured rates: $XDG_CACHE_HOME/spsolve, else
/// ~/.cache/spsolve. A relative XDG_CACHE_HOME counts as none, as its specification asks. Returns an empty
/// path if neither variable is set. The directory may not exist yet.
std::filesystem::path cache_directory();

/// Returns the path of the file `name` in cache_directory(), or nothing if there is no such directory.
std::optional<std::filesystem::path> cache_file(const std::string& name);
/// Returns the path of `<kind>-<device>.json` there, where `-` replaces all but letters and digits of the
/// name of the device.
std::optional<std::filesystem::path> cache_file(const std::string& kind, std::string device);

}  // namespace spsolve
