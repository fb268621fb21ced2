// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace spsolve {

/// Returns the versions of spsolve and of the libraries that it was built with or runs on, by name.
std::map<std::string, std::string> library_versions();

}  // namespace spsolve
