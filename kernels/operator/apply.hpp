// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "kernels/operator/operation.hpp"

namespace spsolve {

namespace detail {

/// Returns x, but at least `low` and at most `high`.
template <class T>
T clamped(T x, T low, T high) {
  const T above = x < low ? low : x;
  return high < above ? high : above;
}

/// Returns the value of an operation on any number of operands, which are taken in their order.
template <class T>
T apply_to_all(Operation operation, std::span<const T> a) {
  T result = a[0];
  switch (operation) {
    case Operation::maximum:
      for (const T& value : a) result = result < value ? value : result;
      return result;
    case Operation::minimum:
      for (const T& value : a) result = value < result ? value : result;
      return result;
    case Operation::sum:
    case Operation::average:
      result = T{0};
      for (const T& value : a) result += value;
      return operation == Operation::sum ? result : result / static_cast<T>(a.size());
    default:
      return std::numeric_limits<T>::quiet_NaN();
  }
}

/// Returns the value of an operation on one number.
template <class T>
T apply_to_one(Operation operation, T x) {
  switch (operation) {
    case Operation::negate:
      return -x;
    case Operation::absolute:
      return x >= T{0} ? x : -x;
    case Operation::acos:
      return std::acos(x);
    case Operation::acosh:
      return std::acosh(x);
    case Operation::asin:
      return std::asin(x);
    case Operation::asinh:
      return std::asinh(x);
    case Operation::atan:
      return std::atan(x);
    case Operation::atanh:
      return std::atanh(x);
    case Operation::ceil:
      return std::ceil(x);
    case Operation::cos:
      return std::cos(x);
    case Operation::cosh:
      return std::cosh(x);
    case Operation::erf:
      return std::erf(x);
    case Operation::erfc:
      return std::erfc(x);
    case Operation::exp:
      return std::exp(x);
    case Operation::floor:
      return std::floor(x);
    case Operation::heaviside:
      return x < T{0} ? T{0} : x > T{0} ? T{1} : x == T{0} ? T{0.5} : x;
    case Operation::log:
      return std::log(x);
    case Operation::log10:
      return std::log10(x);
    case Operation::log2:
      return std::log(x) / std::log(T{2});
    case Operation::rint:
      return std::rint(x);
    case Operation::sign:
      return x < T{0} ? T{-1} : x > T{0} ? T{1} : T{0};
    case Operation::sin:
      return std::sin(x);
    case Operation::sinh:
      return std::sinh(x);
    case Operation::sqrt:
      return std::sqrt(x);
    case Operation::tan:
      return std::tan(x);
    case Operation::tanh:
      return std::tanh(x);
    case Operation::trunc:
      return std::trunc(x);
    default:
      return std::numeric_limits<T>::quiet_NaN();
  }
}

}  // namespace detail

/// Returns the value of an operation in precision T (float or double). Every addition, product, quotient and
/// root in it is rounded once, in the order written here. This function defines the operations of
/// `operation_table`; those with `same_bits` give the same bits on every processor. Comparisons, && and ||
/// return 0 or 1; any number but 0 counts as true. `a` holds as many operands as the operation takes.
template <class T>
T apply(Operation operation, std::span<const T> a) {
  switch (operation) {
    case Operation::add:
      return a[0] + a[1];
    case Operation::subtract:
      return a[0] - a[1];
    case Operation::multiply:
      return a[0] * a[1];
    case Operation::divide:
      return a[0] / a[1];
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
    case Operation::atan2:
      return std::atan2(a[0], a[1]);
    case Operation::clamp:
      return detail::clamped(a[0], a[1], a[2]);
    case Operation::fmod:
      return std::fmod(a[0], a[1]);
    case Operation::hypot:
      return std::hypot(a[0], a[1]);
    case Operation::mod: {  // with the sign of the divisor, as in Python
      const T rest = std::fmod(a[0], a[1]);
      return rest != T{0} && (rest < T{0}) != (a[1] < T{0}) ? rest + a[1] : rest;
    }
    case Operation::ricker: {
      const T phase = std::numbers::pi_v<T> * a[1] * a[0], square = phase * phase;
      return (T{1} - T{2} * square) * std::exp(-square);
    }
    case Operation::smoothstep: {  // 0 below a[0], 1 above a[1]
      const T s = detail::clamped((a[2] - a[0]) / (a[1] - a[0]), T{0}, T{1});
      return s * s * (T{3} - T{2} * s);
    }
    case Operation::average:
    case Operation::maximum:
    case Operation::minimum:
    case Operation::sum:
      return detail::apply_to_all(operation, a);
    default:
      return detail::apply_to_one(operation, a[0]);
  }
}

}  // namespace spsolve
