// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "halo/communicator.hpp"

namespace spsolve {

/// What `spsolve info` prints about a file, and whether all is well with it.
struct FileInfo {
  std::string text;
  bool sound = true;  // false: a checksum does not hold
};

/// Describes a snapshot, a checkpoint or any other HDF5 file: kind, step, time, attributes, and of each
/// dataset of numbers shape, type, least and largest value; whether all checksums hold, or of which dataset
/// they do not. Collective; the same
/// on every rank. Throws Error(file_failure) if the file cannot be read.
FileInfo describe_file(const Communicator& communicator, const std::filesystem::path& file);

}  // namespace spsolve
