// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace spsolve {

/// Where compiled kernels and measured rates are kept: $XDG_CACHE_HOME/spsolve, else ~/.cache/spsolve, else
/// nowhere (empty). It may not exist yet.
std::filesystem::path cache_directory();

/// A file there; none where nothing is kept.
std::optional<std::filesystem::path> cache_file(const std::string& name);

}  // namespace spsolve
