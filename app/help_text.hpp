// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spsolve {

/// Returns the text that --help prints after the options.
std::string help_after_options();

}  // namespace spsolve
