// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/field.hpp"

namespace spsolve {

/// What is kept of a field: the points whose indices are multiples of `stride` along every axis, as an array
/// whose own indices are those divided by it.
struct Sampling {
  std::int64_t stride = 1;
  Precision precision = Precision::fp64;

  friend auto operator<=>(const Sampling&, const Sampling&) = default;
  /// The kept points of a box, as a box of that array.
  Box kept(const Box& box) const;
};

/// Room for such points: a field whose owned box is the kept box of another's.
struct Sample {
  Field* values = nullptr;  // nothing is kept without
  std::int64_t stride = 1;
};

/// Keeps the points of a field in host memory, each value rounded once.
void keep(const Field& field, const Sample& sample);

/// Converts `points` numbers that lie `stride` elements apart into contiguous ones, each rounded once; as
/// they are stored: without the operand rounding of tf32.
void convert(Precision from_precision, const std::byte* from, std::int64_t stride, std::int64_t points,
             Precision to_precision, std::byte* to);

}  // namespace spsolve
