// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/field.hpp"

namespace spsolve {

/// Selects the points of a field whose indices are multiples of `stride` along every axis. They form an array
/// whose indices are the grid's divided by `stride`.
struct Sampling {
  std::int64_t stride = 1;
  Precision precision = Precision::fp64;

  friend auto operator<=>(const Sampling&, const Sampling&) = default;
  /// Returns the selected points of a box, in indices of the sampled array.
  Box sampled(const Box& box) const;
};

/// Describes where sampled points go: a field whose owned box is Sampling::sampled() of the sampled field's.
struct Sample {
  Field* values = nullptr;  // null if nothing is sampled
  std::int64_t stride = 1;
};

/// Returns the format of stored numbers: tf32 rounds operands, not stored values.
constexpr Precision format_of(Precision precision) {
  return precision == Precision::tf32 ? Precision::fp32 : precision;
}

/// Copies the sampled points of a field in host memory to `sample`, each value rounded once.
void copy_sampled(const Field& field, const Sample& sample);

/// Converts `points` numbers that lie `stride` elements apart into contiguous ones and rounds each once.
/// Numbers are converted as they are stored: tf32 does not round its operands here.
void convert(Precision from_precision, const std::byte* from, std::int64_t stride, std::int64_t points,
             Precision to_precision, std::byte* to);

}  // namespace spsolve
