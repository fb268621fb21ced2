// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <string_view>

#include "io/language/small_letters.hpp"
#include "kernels/operator/operation.hpp"

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
inline std::string own_derivative_of(std::string_view name) {
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
  return own_of(in_small_letters(name), instead);
}

/// Returns what the language has in place of a function or a name of other languages (numpy, C, Fortran,
/// MATLAB); empty if it is none of these.
inline std::string own_name_of(std::string_view name) {
  constexpr std::array<ForeignName, 44> instead{{
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
      {"arcsin", "'asin(x)'"},
      {"arccos", "'acos(x)'"},
      {"arctan", "'atan(x)'"},
      {"arctan2", "'atan2(y, x)'"},
      {"arcsinh", "'asinh(x)'"},
      {"arccosh", "'acosh(x)'"},
      {"arctanh", "'atanh(x)'"},
      {"sec", "'1/cos(x)'"},
      {"csc", "'1/sin(x)'"},
      {"cot", "'1/tan(x)'"},
      {"sech", "'1/cosh(x)'"},
      {"csch", "'1/sinh(x)'"},
      {"coth", "'1/tanh(x)'"},
      {"sind", "'sin(x*pi/180)'"},
      {"cosd", "'cos(x*pi/180)'"},
      {"tand", "'tan(x*pi/180)'"},
      {"deg2rad", "'x*pi/180'"},
      {"radians", "'x*pi/180'"},
      {"sgn", "'sign(x)'"},
      {"clip", "'clamp(x, low, high)'"},
      {"int", "'trunc(x)'"},
      {"fix", "'trunc(x)'"},
      {"rand", "a dataset of values: formulas have no random numbers"},
      {"random", "a dataset of values: formulas have no random numbers"},
      {"randn", "a dataset of values: formulas have no random numbers"},
      {"e", "'exp(x)' for e^x, 'exp(1)' for e"},
      {"pi", "'pi' in small letters, without brackets"},
      {"true", "'1'"},
      {"false", "'0'"},
  }};
  const std::string small = in_small_letters(name);
  if (small != name && find_function(small)) return "'" + small + "' in small letters";
  return own_of(small, instead);
}

/// Returns true if letters behind the digits of a number belong to it in other languages: an exponent (1d3,
/// 1d-3), a suffix (1.5f), a base (0x10) or a separator (1_000). `behind` stands behind the letters. A letter
/// that may be the name of a factor, as in 2u, 2d and 3f, does not belong to the number.
inline bool continues_number(std::string_view digits, std::string_view letters, std::string_view behind) {
  const char first = letters.front();
  const auto has = [](std::string_view list, char c) { return list.find(c) != std::string_view::npos; };
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (first == '_' || (digits == "0" && has("xXbBoO", first))) return true;
  if (!std::ranges::all_of(letters.substr(1), is_digit)) return false;
  if (has("fFlL", first)) return has(digits, '.');
  const bool exponent =
      letters.size() > 1 || (behind.size() > 1 && has("+-", behind[0]) && is_digit(behind[1]));
  return has("dDeEqQ", first) && exponent;
}

/// Returns what the language has in place of an operator or a symbol of other languages; empty if it is none
/// of these.
inline std::string own_operator_of(std::string_view symbol) {
  constexpr std::array<ForeignName, 21> instead{{
      {"**", "'^' for powers"},
      {"=", "'==' for equality"},
      {"is", "'==' for equality"},
      {"=<", "'<='"},
      {"=>", "'>='"},
      {"<>", "'!=' for inequality"},
      {"and", "'&&' between conditions"},
      {"or", "'||' between conditions"},
      {"xor", "'!=' between conditions in brackets"},
      {"not", "a comparison: 'not a' is written 'a == 0'"},
      {"mod", "'mod(a, b)' for remainders"},
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
  return own_of(in_small_letters(symbol), instead);
}

/// Returns what the language has in place of a comparison of Fortran that stands between points, as in
/// 'a .gt. b'; empty if it is none of these.
inline std::string own_comparison_of(std::string_view word) {
  constexpr std::array<ForeignName, 6> instead{{
      {"eq", "'==' for equality"},
      {"ne", "'!=' for inequality"},
      {"lt", "'<'"},
      {"le", "'<='"},
      {"gt", "'>'"},
      {"ge", "'>='"},
  }};
  return own_of(in_small_letters(word), instead);
}

}  // namespace spsolve
