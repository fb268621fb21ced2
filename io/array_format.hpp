// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// The field of a problem that names none.
constexpr const char* default_field = "u";

/// Returns the dataset that holds the array `name`.
inline std::string dataset_of(const std::string& name) { return "/" + name; }

/// A global array in C order; 1D and 2D arrays are stored with rank 1 and 2.
struct ArrayFormat {
  int dimensions = 3;
  Index3 shape{1, 1, 1};  // points
  Precision precision = Precision::fp64;

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(storage_bytes(precision)); }
};

/// Gives the values of `points` points from `begin` on along x, in the storage type of the file. Called for
/// points of the rank's own box only, each once, in C order within a block.
using RowSource = std::function<void(const Index3& begin, std::int64_t points, std::byte* out)>;
/// An array of a file: its name, without the slash, and the rank's rows of it.
struct NamedRows {
  std::string name;
  RowSource row;
};
/// Takes values in the storage type of the file.
using RowSink = std::function<void(const Index3& begin, std::int64_t points, const std::byte* values)>;

/// Names of the attributes of an array that hold its checksums: one XXH3_64bits per block of
/// `checksum_block_bytes` bytes of the values in C order.
namespace checksum_attribute {
constexpr const char* values = "checksums";
constexpr const char* block_bytes = "checksum_block_bytes";
constexpr const char* algorithm = "checksum_algorithm";
}  // namespace checksum_attribute
constexpr const char* checksum_algorithm = "XXH3_64bits";

}  // namespace spsolve
