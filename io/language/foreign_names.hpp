// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <string_view>

namespace spsolve {

/// Holds a word of other languages, and what this language has in its place.
struct ForeignName {
  std::string_view foreign, own;
};

/// Returns what a table has in place of a word; empty if the table does not have the word.
inline std::string own_of(std::string_view word, std::span<const ForeignName> table) {
  const auto found = std::ranges::find(table, word, &ForeignName::foreign);
  return found == table.end() ? "" : std::string(found->own);
}

/// Returns how a system of equations writes a derivative that other languages have as a function; empty if it
/// is none of these.
inline std::string own_derivative_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<ForeignName, 15> instead{{
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
  return own_of(name, instead);
}

/// Returns what the language has in place of a function or a name of other languages (numpy, C, Fortran,
/// MATLAB); empty if it is none of these.
inline std::string own_name_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<ForeignName, 21> instead{{
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
  return own_of(name, instead);
}

/// Returns what the language has in place of an operator or a symbol of other languages; empty if it is none
/// of these.
inline std::string own_operator_of(std::string_view symbol) {
  constexpr std::array<ForeignName, 16> instead{{
      {"**", "'^' for powers"},
      {"=", "'==' for equality"},
      {"<>", "'!=' for inequality"},
      {"and", "'&&' between conditions"},
      {"or", "'||' between conditions"},
      {"not", "a comparison: 'not a' is written 'a == 0'"},
      {"!", "a comparison: '!a' is written 'a == 0'"},
      {"&", "'&&' between conditions"},
      {"|", "'||' between conditions"},
      {"%", "'mod(a, b)' for remainders"},
      {"//", "'floor(a/b)' for quotients rounded down; comments begin with '#'"},
      {"{", "'(' or '['"},
      {"}", "')' or ']'"},
      {"~", "a comparison: '~a' is written 'a == 0'"},
      {"@", "an operator of the language"},
      {"if", "'condition ? a : b'"},
  }};
  return own_of(symbol, instead);
}

}  // namespace spsolve
