// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace spsolve {

/// Says how the work on a file shares a rank with that on other files. Their values are written at the same
/// time, because the threads that write to one file wait for one another in most file systems. The files
/// appear under their names in their order.
struct FileTurn {
  int slot = 0;                        // differs from those of all other files in progress
  int files = 1;                       // that may be in progress: each takes its share of the threads
  std::function<void()> wait = [] {};  // returns when all files before this one have ended
};

}  // namespace spsolve
