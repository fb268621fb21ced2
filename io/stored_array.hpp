// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"

namespace spsolve {

/// The array /u of a file of ours as it lies on disk.
struct StoredArray {
  std::filesystem::path file;
  ArrayFormat format;
  std::int64_t offset = 0;       // bytes from the start of the file
  std::int64_t block_bytes = 0;  // per checksum
  std::vector<std::uint64_t> checksums;
};

/// Throws Error(file_failure) if `file` is missing, damaged or has no array of ours.
StoredArray locate_array(const std::filesystem::path& file);

/// Collective; throws Error(file_failure) naming the first damaged block unless all checksums hold.
void verify_array(const Communicator& communicator, const StoredArray& array);

/// Reads the rank's box, in bounded memory; sink() gets the values in the storage type of the file.
void read_array(const StoredArray& array, const Box& box, const RowSink& sink);

}  // namespace spsolve
