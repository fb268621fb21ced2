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

/// Checksums of what the sections of an input set point by point ("initial", "source"), by section, as
/// app/values/value_summary.hpp makes them. Two runs of one problem have the same checksums, wherever the
/// values were read from. A section whose values were never read is missing.
using ValueChecksums = std::map<std::string, std::string>;

/// What a run needs beside the values of its fields to go on as if it had never stopped.
struct CheckpointHeader {
  std::int64_t step = 0;
  double time = 0.0;
  Precision precision = Precision::fp64;  // of the run; tf32 is stored as float32
  std::string input;                      // resolved, as TOML
  std::string plan;
  std::string weights;  // checksum_of() the stencil, or what else tells whether equations are the same
  std::vector<std::string> fields = {default_field};  // names, in the order of the problem
  ValueChecksums values = {};
};

/// XXH3_64bits of the taps in hexadecimal digits: of the weights themselves, wherever they were read from.
std::string checksum_of(const Stencil& stencil);

/// A checkpoint on disk.
struct Checkpoint {
  std::filesystem::path file;
  CheckpointHeader header;
  std::vector<StoredArray> arrays;  // of each field, followed by its previous values where there are any
};

/// The array that holds the values of a field one step before: "p.previous" for "p".
constexpr const char* previous_suffix = ".previous";
inline std::string previous_of(const std::string& field) { return field + previous_suffix; }

/// `directory`/checkpoint_<step, 10 digits>.h5
std::filesystem::path checkpoint_file(const std::filesystem::path& directory, std::int64_t step);

/// Writes a checkpoint of a grid of `dimensions` and `shape`; collective: every rank gives its `box` and the
/// rows of it in the storage type of header.precision. `arrays` are header.fields in their order, and
/// previous_of() those fields that have previous values. One array "u" makes a file of format version 1,
/// anything else a file of version 2, with attribute "fields". All ranks throw the same Error(file_failure)
/// if it cannot be written; every older checkpoint is then still there.
std::filesystem::path write_checkpoint(const Communicator& communicator,
                                       const std::filesystem::path& directory, const CheckpointHeader& header,
                                       int dimensions, const Index3& shape, const Box& box,
                                       const std::vector<NamedRows>& arrays);

/// Removes all but the newest `keep` (>= 1) of the checkpoints up to `step`, the one just written. Later
/// ones, which a run that was restarted from an earlier step has not reached again, stay. Collective; a file
/// that cannot be removed stays too.
void prune_checkpoints(const Communicator& communicator, const std::filesystem::path& directory,
                       std::int64_t step, int keep);

/// Reads all but the values; a file of format version 1 has the one field "u". Throws Error(file_failure) if
/// the file is missing, damaged or no checkpoint.
Checkpoint open_checkpoint(const std::filesystem::path& file);

/// open_checkpoint() and verification of all checksums, shared by the ranks; collective, all throw the same
/// Error.
Checkpoint verified_checkpoint(const Communicator& communicator, const std::filesystem::path& file);

/// Reads the rank's own points of `field` from the array `name`: a field's, or previous_of() one. Collective.
/// A checkpoint without that array, of another storage precision than the field's, or of another shape of the
/// grid, is an Error(invalid_input).
void read_checkpoint(const Communicator& communicator, const Checkpoint& checkpoint, const std::string& name,
                     const Index3& shape, Field& field);

/// The newest checkpoint of a directory whose checksums hold.
struct LatestCheckpoint {
  std::optional<Checkpoint> checkpoint;  // nothing where there is none
  std::vector<std::string> passed_over;  // newer files and what is wrong with them, newest first
};

/// Collective; the same on every rank. What killed runs left under temporary names is no checkpoint.
LatestCheckpoint find_latest_checkpoint(const Communicator& communicator,
                                        const std::filesystem::path& directory);

}  // namespace spsolve
