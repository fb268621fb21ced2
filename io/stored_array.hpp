// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"

namespace spsolve {

/// An array of a file of ours as it lies on disk.
struct StoredArray {
  std::filesystem::path file;
  std::string name;  // of the dataset, without the slash
  ArrayFormat format;
  std::int64_t offset = 0;       // bytes from the start of the file; nothing of an array that is compressed
  std::int64_t block_bytes = 0;  // per checksum
  std::vector<std::uint64_t> checksums;

  /// "checkpoint.h5:/u"
  std::string where() const { return file.string() + ":" + dataset_of(name); }
};

/// Finds the array `name`. Throws Error(file_failure) if `file` is missing, damaged or has no array of ours
/// of that name.
StoredArray locate_array(const std::filesystem::path& file, const std::string& name = default_field);

/// Collective; throws Error(file_failure) naming the dataset and its first damaged block unless all checksums
/// hold.
void verify_array(const Communicator& communicator, const StoredArray& array);

/// Reads the rank's box, in bounded memory; sink() gets the values in the storage type of the file.
void read_array(const StoredArray& array, const Box& box, const RowSink& sink);

}  // namespace spsolve
