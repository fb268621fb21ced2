// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace spsolve {

/// Where compiled kernels and measured rates are kept: $XDG_CACHE_HOME/spsolve, else ~/.cache/spsolve, else
/// nowhere (empty). It may not exist yet.
std::filesystem::path cache_directory();

}  // namespace spsolve
