// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "halo/communicator.hpp"

namespace spsolve {

/// Holds what `spsolve info` prints about a file, and whether its checksums hold.
struct FileInfo {
  std::string text;
  bool valid = true;  // false: a checksum does not hold
};

/// Describes a snapshot, a checkpoint or any other HDF5 file: kind, step, time and attributes; shape, type,
/// least and largest value of each dataset of numbers; and which datasets have a wrong checksum. Collective;
/// the result is the same on every rank. Throws Error(file_failure) if the file cannot be read.
FileInfo describe_file(const Communicator& communicator, const std::filesystem::path& file);

}  // namespace spsolve
