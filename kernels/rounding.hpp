// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace spsolve {

/// Returns the quotient of two non-negative numbers, rounded up.
template <class Integer>
constexpr Integer ceil_div(Integer extent, std::type_identity_t<Integer> divisor) {
  return (extent + divisor - 1) / divisor;
}

/// Returns the largest multiple that is not above `value`, which may have either sign.
template <class Integer>
constexpr Integer round_down(Integer value, std::type_identity_t<Integer> multiple) {
  return value - ((value % multiple) + multiple) % multiple;
}

/// Returns the quotient rounded down; `value` may have either sign.
template <class Integer>
constexpr Integer floor_div(Integer value, std::type_identity_t<Integer> divisor) {
  return round_down(value, divisor) / divisor;
}

/// Returns the smallest multiple that is not below `value`, which may have either sign.
template <class Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> multiple) {
  return round_down(value + multiple - 1, multiple);
}

}  // namespace spsolve
