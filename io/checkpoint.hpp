// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/stored_array.hpp"
#include "kernels/field.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Checksums of what the sections of an input set point by point ("initial", "source"), as
/// app/setup/value_summary.hpp makes them: two runs of one problem have the same, wherever the values were
/// read from. A section whose values nobody has looked at is missing.
using ValueChecksums = std::map<std::string, std::string>;

/// What a run needs beside /u to go on as if it had never stopped.
struct CheckpointHeader {
  std::int64_t step = 0;
  double time = 0.0;
  Precision precision = Precision::fp64;  // of the run; tf32 is stored as float32
  std::string input;                      // resolved, as TOML
  std::string plan;
  std::string weights;  // checksum_of() the stencil
  ValueChecksums values = {};
};

/// XXH3_64bits of the taps in hexadecimal digits: of the weights themselves, wherever they were read from.
std::string checksum_of(const Stencil& stencil);

/// A checkpoint on disk.
struct Checkpoint {
  CheckpointHeader header;
  StoredArray array;
};

/// `directory`/checkpoint_<step, 10 digits>.h5
std::filesystem::path checkpoint_file(const std::filesystem::path& directory, std::int64_t step);

/// Writes a checkpoint of a grid of `dimensions` and `shape`; collective: every rank gives its `box` and the
/// rows of it in the storage type of header.precision. All ranks throw the same Error(file_failure) if it
/// cannot be written; every older checkpoint is then still there.
std::filesystem::path write_checkpoint(const Communicator& communicator,
                                       const std::filesystem::path& directory, const CheckpointHeader& header,
                                       int dimensions, const Index3& shape, const Box& box,
                                       const RowSource& row);

/// Removes all but the newest `keep` (>= 1) of the checkpoints up to `step`, the one just written. Later
/// ones, which a run that was restarted from an earlier step has not reached again, stay. Collective; a file
/// that cannot be removed stays too.
void prune_checkpoints(const Communicator& communicator, const std::filesystem::path& directory,
                       std::int64_t step, int keep);

/// Reads all but the values. Throws Error(file_failure) if the file is missing, damaged or no checkpoint.
Checkpoint open_checkpoint(const std::filesystem::path& file);

/// open_checkpoint() and verification of all checksums, shared by the ranks; collective, all throw the same
/// Error.
Checkpoint verified_checkpoint(const Communicator& communicator, const std::filesystem::path& file);

/// Reads the rank's own points of `field`. Collective. Another storage precision than the field's, or another
/// shape of the grid, is an Error(invalid_input).
void read_checkpoint(const Communicator& communicator, const Checkpoint& checkpoint, const Index3& shape,
                     Field& field);

/// The newest checkpoint of a directory whose checksums hold.
struct LatestCheckpoint {
  std::optional<Checkpoint> checkpoint;  // nothing where there is none
  std::vector<std::string> passed_over;  // newer files and what is wrong with them, newest first
};

/// Collective; the same on every rank. What killed runs left under temporary names is no checkpoint.
LatestCheckpoint find_latest_checkpoint(const Communicator& communicator,
                                        const std::filesystem::path& directory);

}  // namespace spsolve
