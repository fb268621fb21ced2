// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "kernels/operator/operation.hpp"

namespace spsolve {

/// Returns the value of an operation in precision T (float or double). Every addition, product, quotient and
/// root in it is rounded once, in the order written here. This function defines the operations of
/// `operation_table`; those with `same_bits` give the same bits on every processor. Comparisons, && and ||
/// return 0 or 1; any number but 0 counts as true. `a` holds as many operands as the operation takes.
template <class T>
T apply(Operation operation, std::span<const T> a) {
  const auto sum = [&] {
    T total{0};
    for (const T& value : a) total += value;
    return total;
  };
  const auto clamped = [](T x, T low, T high) {
    const T above = x < low ? low : x;
    return high < above ? high : above;
  };
  switch (operation) {
    case Operation::add:
      return a[0] + a[1];
    case Operation::subtract:
      return a[0] - a[1];
    case Operation::multiply:
      return a[0] * a[1];
    case Operation::divide:
      return a[0] / a[1];
    case Operation::negate:
      return -a[0];
    case Operation::power:
    case Operation::pow:
      return std::pow(a[0], a[1]);
    case Operation::less:
      return a[0] < a[1];
    case Operation::less_equal:
      return a[0] <= a[1];
    case Operation::greater:
      return a[0] > a[1];
    case Operation::greater_equal:
      return a[0] >= a[1];
    case Operation::equal:
      return a[0] == a[1];
    case Operation::not_equal:
      return a[0] != a[1];
    case Operation::both:
      return a[0] != T{0} && a[1] != T{0};
    case Operation::either:
      return a[0] != T{0} || a[1] != T{0};
    case Operation::select:
      return a[0] != T{0} ? a[1] : a[2];
    case Operation::absolute:
      return a[0] >= T{0} ? a[0] : -a[0];
    case Operation::acos:
      return std::acos(a[0]);
    case Operation::acosh:
      return std::acosh(a[0]);
    case Operation::asin:
      return std::asin(a[0]);
    case Operation::asinh:
      return std::asinh(a[0]);
    case Operation::atan:
      return std::atan(a[0]);
    case Operation::atan2:
      return std::atan2(a[0], a[1]);
    case Operation::atanh:
      return std::atanh(a[0]);
    case Operation::average:
      return sum() / static_cast<T>(a.size());
    case Operation::ceil:
      return std::ceil(a[0]);
    case Operation::clamp:
      return clamped(a[0], a[1], a[2]);
    case Operation::cos:
      return std::cos(a[0]);
    case Operation::cosh:
      return std::cosh(a[0]);
    case Operation::erf:
      return std::erf(a[0]);
    case Operation::erfc:
      return std::erfc(a[0]);
    case Operation::exp:
      return std::exp(a[0]);
    case Operation::floor:
      return std::floor(a[0]);
    case Operation::fmod:
      return std::fmod(a[0], a[1]);
    case Operation::heaviside:
      return a[0] < T{0} ? T{0} : a[0] > T{0} ? T{1} : a[0] == T{0} ? T{0.5} : a[0];
    case Operation::hypot:
      return std::hypot(a[0], a[1]);
    case Operation::log:
      return std::log(a[0]);
    case Operation::log10:
      return std::log10(a[0]);
    case Operation::log2:
      return std::log(a[0]) / std::log(T{2});
    case Operation::maximum: {
      T largest = a[0];
      for (const T& value : a) largest = largest < value ? value : largest;
      return largest;
    }
    case Operation::minimum: {
      T least = a[0];
      for (const T& value : a) least = value < least ? value : least;
      return least;
    }
    case Operation::mod: {  // with the sign of the divisor, as in Python
      const T rest = std::fmod(a[0], a[1]);
      return rest != T{0} && (rest < T{0}) != (a[1] < T{0}) ? rest + a[1] : rest;
    }
    case Operation::ricker: {
      const T phase = std::numbers::pi_v<T> * a[1] * a[0], square = phase * phase;
      return (T{1} - T{2} * square) * std::exp(-square);
    }
    case Operation::rint:
      return std::rint(a[0]);
    case Operation::sign:
      return a[0] < T{0} ? T{-1} : a[0] > T{0} ? T{1} : T{0};
    case Operation::sin:
      return std::sin(a[0]);
    case Operation::sinh:
      return std::sinh(a[0]);
    case Operation::smoothstep: {  // 0 below a[0], 1 above a[1]
      const T s = clamped((a[2] - a[0]) / (a[1] - a[0]), T{0}, T{1});
      return s * s * (T{3} - T{2} * s);
    }
    case Operation::sqrt:
      return std::sqrt(a[0]);
    case Operation::sum:
      return sum();
    case Operation::tan:
      return std::tan(a[0]);
    case Operation::tanh:
      return std::tanh(a[0]);
    case Operation::trunc:
      return std::trunc(a[0]);
  }
  return std::numeric_limits<T>::quiet_NaN();
}

}  // namespace spsolve
