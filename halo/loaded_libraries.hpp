// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace spsolve {

/// Returns the paths of the shared libraries that this process has loaded so far, as dlopen() takes them. The
/// executable has an empty path.
std::vector<std::string> loaded_libraries();

}  // namespace spsolve
