// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace spsolve {

/// Returns how a system of equations writes a derivative that other languages have as a function; empty if it
/// is none of these.
inline std::string own_derivative_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::array<std::string_view, 2>, 15> instead{{
      {"laplacian", "'laplace(e)'"},
      {"lap", "'laplace(e)'"},
      {"del2", "'laplace(e)'"},
      {"nabla2", "'laplace(e)'"},
      {"grad", "'d(e, x)', one for each axis"},
      {"gradient", "'d(e, x)', one for each axis"},
      {"div", "a sum such as 'd(fx, x) + d(fy, y)'"},
      {"divergence", "a sum such as 'd(fx, x) + d(fy, y)'"},
      {"diff", "'d(e, x)' or 'd(e, x, 2)'"},
      {"derivative", "'d(e, x)' or 'd(e, x, 2)'"},
      {"d2", "'d(e, x, 2)'"},
      {"dxx", "'d(e, x, 2)'"},
      {"dx", "'d(e, x)'"},
      {"dy", "'d(e, y)'"},
      {"dz", "'d(e, z)'"},
  }};
  for (const auto& [foreign, own] : instead)
    if (name == foreign) return std::string(own);
  return "";
}

/// Returns what the language has in place of a function or a name of other languages (numpy, C, Fortran,
/// MATLAB); empty if it is none of these.
inline std::string own_name_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::array<std::string_view, 2>, 21> instead{{
      {"where", "'condition ? a : b'"},
      {"if", "'condition ? a : b'"},
      {"ifelse", "'condition ? a : b'"},
      {"select", "'condition ? a : b'"},
      {"iif", "'condition ? a : b'"},
      {"merge", "'condition ? a : b'"},
      {"piecewise", "'condition ? a : b'"},
      {"step", "'heaviside(x)'"},
      {"round", "'rint(x)'"},
      {"nint", "'rint(x)'"},
      {"fabs", "'abs(x)'"},
      {"square", "'x^2'"},
      {"sqr", "'x^2'"},
      {"cbrt", "'x^(1/3)'"},
      {"power", "'x^y'"},
      {"arctan", "'atan(x)'"},
      {"arctan2", "'atan2(y, x)'"},
      {"e", "'exp(x)' for e^x, 'exp(1)' for e"},
      {"pi", "'pi' in small letters"},
      {"true", "'1'"},
      {"false", "'0'"},
  }};
  for (const auto& [foreign, own] : instead)
    if (name == foreign) return std::string(own);
  return "";
}

}  // namespace spsolve
