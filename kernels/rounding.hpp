// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace spsolve {

/// How many pieces cover an extent.
template <class Integer>
constexpr Integer pieces(Integer extent, std::type_identity_t<Integer> piece) {
  return (extent + piece - 1) / piece;
}

/// The largest multiple that is not above a value, of either sign.
template <class Integer>
constexpr Integer floor_to(Integer value, std::type_identity_t<Integer> multiple) {
  return value - ((value % multiple) + multiple) % multiple;
}

/// Which multiple that is.
template <class Integer>
constexpr Integer floor_div(Integer value, std::type_identity_t<Integer> divisor) {
  return floor_to(value, divisor) / divisor;
}

/// The least multiple that is not below a value, of either sign.
template <class Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> multiple) {
  return floor_to(value + multiple - 1, multiple);
}

}  // namespace spsolve
