// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace spsolve::testing {

/// Returns the largest of the numbers that stand directly before a text in a compiler's log, over all kernels
/// of a template and the functions that they call, or -1 if there is none. It does without <regex>, which
/// takes five seconds to compile.
inline int max_before(std::string_view log, std::string_view text) {
  int most = -1;
  for (std::size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) {
    const std::string_view before = log.substr(0, at);
    const std::size_t begin = before.find_last_not_of("0123456789") + 1;  // 0 if there is none
    int number = -1;
    std::from_chars(before.data() + begin, before.data() + at, number);
    most = std::max(most, number);
  }
  return most;
}

inline int max_spilled_bytes(std::string_view log) { return max_before(log, " bytes spill stores"); }

}  // namespace spsolve::testing
