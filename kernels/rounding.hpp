// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace spsolve {

/// The quotient of what is not negative, rounded up.
template <class Integer>
constexpr Integer ceil_div(Integer extent, std::type_identity_t<Integer> divisor) {
  return (extent + divisor - 1) / divisor;
}

/// The largest multiple that is not above a value, of either sign.
template <class Integer>
constexpr Integer round_down(Integer value, std::type_identity_t<Integer> multiple) {
  return value - ((value % multiple) + multiple) % multiple;
}

/// Which multiple that is.
template <class Integer>
constexpr Integer floor_div(Integer value, std::type_identity_t<Integer> divisor) {
  return round_down(value, divisor) / divisor;
}

/// The least multiple that is not below a value, of either sign.
template <class Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> multiple) {
  return round_down(value + multiple - 1, multiple);
}

}  // namespace spsolve
