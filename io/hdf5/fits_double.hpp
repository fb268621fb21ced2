// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace spsolve {

/// Returns true if a double holds an integer of up to 64 bits without rounding.
template <class Integer>
constexpr bool fits_double(Integer value) {
  const auto bits = static_cast<std::uint64_t>(value), magnitude = value < 0 ? -bits : bits;
  const auto width = static_cast<int>(std::bit_width(magnitude));  // 0 for 0
  return width - std::countr_zero(magnitude) <= std::numeric_limits<double>::digits;
}

}  // namespace spsolve
