// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"
#include "kernels/field.hpp"
#include "kernels/precision.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {

/// Names the field of a problem that names none.
constexpr const char* default_field = "u";

/// Returns the dataset that holds the array `name`.
inline std::string dataset_of(const std::string& name) { return "/" + name; }

/// Names how the values of an array are stored: as they are, or in chunks that a filter of HDF5 has
/// compressed without loss.
enum class Compression { none, deflate, zstd };
/// Holds the names in the order of Compression.
inline constexpr std::array<std::string_view, 3> compression_names{"none", "deflate", "zstd"};
constexpr std::string_view to_string(Compression compression) {
  return compression_names[static_cast<std::size_t>(compression)];
}

/// Describes a global array in C order; 1D and 2D arrays are stored with rank 1 and 2.
struct ArrayFormat {
  int dimensions = 3;
  Index3 shape{1, 1, 1};  // points
  Precision precision = Precision::fp64;
  Compression compression = Compression::none;

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(storage_bytes(precision)); }
};

/// Writes the values of `points` points from `begin` on along x, in the storage type of the file. It is
/// called only for points of the rank's own box, once for each.
using RowSource = std::function<void(const Index3& begin, std::int64_t points, std::byte* out)>;
/// Holds the name of an array of a file, without the slash, and the rank's rows of it. Several threads use it
/// at a time, each a copy of its own.
struct NamedRows {
  std::string name;
  RowSource row;
  /// Holds the points of the rank's box, if they lie in memory in the storage type of the file. Blocks of
  /// this rank's points alone are then written from there, without a copy by `row`.
  std::optional<ReadableField> stored = {};
  /// Is called with all values that this rank writes, in pieces.
  std::function<void(std::span<const std::byte> values)> inspect = {};
};
/// Takes values in the storage type of the file.
using RowSink = std::function<void(const Index3& begin, std::int64_t points, const std::byte* values)>;

/// The attributes of an array named here hold its checksums: one XXH3_64bits per block of
/// `checksum_block_bytes` bytes of the values in C order.
namespace checksum_attribute {
constexpr const char* values = "checksums";
constexpr const char* block_bytes = "checksum_block_bytes";
constexpr const char* algorithm = "checksum_algorithm";
}  // namespace checksum_attribute
constexpr const char* checksum_algorithm = "XXH3_64bits";

}  // namespace spsolve
