// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <regex>
#include <string>

namespace spsolve::testing {

/// The largest of the numbers that a compiler's log gives in this way, of all kernels of a template and
/// functions that they call; -1 without any.
inline int most_of(const std::string& log, const char* pattern) {
  const std::regex number(pattern);
  int most = -1;
  for (std::sregex_iterator found(log.begin(), log.end(), number), end; found != end; ++found)
    most = std::max(most, std::stoi((*found)[1]));
  return most;
}

inline int most_spilled_bytes(const std::string& log) { return most_of(log, "(\\d+) bytes spill stores"); }

}  // namespace spsolve::testing
