// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"

namespace spsolve {

/// Describes an array of a file of spsolve on disk.
struct StoredArray {
  std::filesystem::path file;
  std::string name;  // the name of the dataset, without the slash
  ArrayFormat format;
  std::int64_t offset = 0;                // bytes from the start of the file; not set for compressed arrays
  std::int64_t checksum_block_bytes = 0;  // per checksum
  std::vector<std::uint64_t> checksums;

  /// Returns "checkpoint.h5:/u".
  std::string where() const { return file.string() + ":" + dataset_of(name); }
};

/// Finds the array `name`. Throws Error(file_failure) if `file` is missing, damaged or has no array of that
/// name with checksums.
StoredArray locate_array(const std::filesystem::path& file, const std::string& name = default_field);

/// Verifies all checksums. Collective; throws Error(file_failure) naming the dataset and its first damaged
/// block.
void verify_array(const Communicator& communicator, const StoredArray& array);

/// Reads the rank's box, in bounded memory; sink() receives the values in the storage type of the file.
void read_array(const StoredArray& array, const Box& box, const RowSink& sink);

}  // namespace spsolve
