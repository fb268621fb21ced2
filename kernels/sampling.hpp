// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

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

/// Copies the sampled points of a field in host memory to `sample`. Each value is rounded once.
void copy_sampled(const Field& field, const Sample& sample);

/// Converts `points` numbers that lie `stride` elements apart into contiguous ones and rounds each once.
/// Numbers are converted as they are stored: tf32 does not round its operands here.
void convert(Precision from_precision, const std::byte* from, std::int64_t stride, std::int64_t points,
             Precision to_precision, std::byte* to);

/// Brings `elements` elements of a field's memory to the host, from the owned point `begin` on: points of a
/// row, or several rows with the padding between them. Returns their address, which is valid until the next
/// call. Each thread calls its own copy of the function.
using ElementReader = std::function<const std::byte*(const Index3& begin, std::int64_t elements)>;

/// Refers to a field whose owned points the host reads, in host memory or in that of a device.
struct ReadableField {
  /// A field in the memory of a device needs `from_device`, which brings its points to the host.
  ReadableField(const Field& values, ElementReader from_device = {})
      : field(&values), read(std::move(from_device)) {}

  /// Returns the address in host memory of `elements` elements from `begin` on, as `read` does.
  const std::byte* on_host(const Index3& begin, std::int64_t elements) const {
    return read ? read(begin, elements) : field->bytes_at(begin);
  }

  const Field* field;
  ElementReader read = {};  // empty if the field lies in host memory
};

}  // namespace spsolve
