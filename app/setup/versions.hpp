// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace spsolve {

/// Versions of spsolve and of what it was built with or runs on, by name.
std::map<std::string, std::string> library_versions();

}  // namespace spsolve
