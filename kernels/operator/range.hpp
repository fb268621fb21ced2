// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace spsolve {

/// Holds a half-open range [begin, end) of points along an axis.
struct Range {
  std::int64_t begin, end;

  constexpr bool empty() const { return begin >= end; }
};

}  // namespace spsolve
