// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <regex>
#include <string>

namespace spsolve::testing {

/// Returns the largest of the numbers that match a pattern in a compiler's log, over all kernels of a
/// template and the functions that they call, or -1 if there is none.
inline int max_of(const std::string& log, const char* pattern) {
  const std::regex number(pattern);
  int most = -1;
  for (std::sregex_iterator found(log.begin(), log.end(), number), end; found != end; ++found)
    most = std::max(most, std::stoi((*found)[1]));
  return most;
}

inline int max_spilled_bytes(const std::string& log) { return max_of(log, "(\\d+) bytes spill stores"); }

}  // namespace spsolve::testing
