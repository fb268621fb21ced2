// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/operator/apply.hpp"

namespace spsolve {

/// Refers to values of T at neighbouring points: data[i] at point i, or one value for all points where `data`
/// is null.
template <class T>
struct RowValues {
  const T* data = nullptr;
  T single{};

  T at(std::int64_t i) const { return data ? data[i] : single; }
};

/// Computes out[i] = operation(operands at point i) with the bits of apply(). Loops over operations that
/// processors have as vector instructions are vectorised by compilers. `out` must not be one of the operands.
template <class T>
void apply_row(Operation operation, std::span<const RowValues<T>> operands, std::int64_t points, T* out) {
  const auto unary = [&](auto&& function) {
    for (std::int64_t i = 0; i < points; ++i) out[i] = function(operands[0].data[i]);
  };
  const auto binary = [&](auto&& function) {
    const RowValues<T>&a = operands[0], &b = operands[1];
    if (a.data && b.data)
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.data[i], b.data[i]);
    else if (a.data)
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.data[i], b.single);
    else
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.single, b.at(i));
  };
  const std::size_t count = operands.size();
  switch (operation) {
    case Operation::add:
      return binary([](T a, T b) { return a + b; });
    case Operation::subtract:
      return binary([](T a, T b) { return a - b; });
    case Operation::multiply:
      return binary([](T a, T b) { return a * b; });
    case Operation::divide:
      return binary([](T a, T b) { return a / b; });
    case Operation::maximum:
      if (count == 2) return binary([](T a, T b) { return a < b ? b : a; });
      break;
    case Operation::minimum:
      if (count == 2) return binary([](T a, T b) { return b < a ? b : a; });
      break;
    case Operation::negate:
      if (operands[0].data) return unary([](T a) { return -a; });
      break;
    case Operation::sqrt:
      if (operands[0].data) return unary([](T a) { return std::sqrt(a); });
      break;
    default:
      break;
  }
  std::array<T, max_operands> values;
  for (std::int64_t i = 0; i < points; ++i) {
    for (std::size_t k = 0; k < count; ++k) values[k] = operands[k].at(i);
    out[i] = apply<T>(operation, std::span<const T>(values.data(), count));
  }
}

}  // namespace spsolve
