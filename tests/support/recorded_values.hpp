// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/points/point_work.hpp"
#include "kernels/precision.hpp"

namespace spsolve::testing {

/// Waits for recorded rows of fields of this precision and returns their values.
inline std::vector<double> recorded_values(RecordedRows& rows, Precision fields) {
  const std::span<const std::byte> bytes = rows.wait();
  const auto as_doubles = [&]<class Value>() {
    const auto* const first = reinterpret_cast<const Value*>(bytes.data());
    return std::vector<double>(first, first + bytes.size() / sizeof(Value));
  };
  if (sum_precision(fields) == Precision::fp64) return as_doubles.template operator()<double>();
  return as_doubles.template operator()<float>();
}

}  // namespace spsolve::testing
