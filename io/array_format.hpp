// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// The dataset that every file of ours has.
constexpr const char* field_dataset = "/u";

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
/// Takes such values.
using RowSink = std::function<void(const Index3& begin, std::int64_t points, const std::byte* values)>;

/// Names of the attributes of /u that hold its checksums: one XXH3_64bits per block of `checksum_block_bytes`
/// bytes of the values in C order.
namespace checksum_attribute {
constexpr const char* values = "checksums";
constexpr const char* block_bytes = "checksum_block_bytes";
constexpr const char* algorithm = "checksum_algorithm";
}  // namespace checksum_attribute
constexpr const char* checksum_algorithm = "XXH3_64bits";

}  // namespace spsolve
