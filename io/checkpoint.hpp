// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/file_turn.hpp"
#include "io/stored_array.hpp"
#include "kernels/field.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds, by section ("initial", "source"), checksums of the values that the input sets point by point, as
/// app/values/value_summary.hpp computes them, and those of other values in files. Two runs of one problem
/// have the same checksums, wherever the values were read from. A section whose values were never read is
/// missing.
using ValueChecksums = std::map<std::string, std::string>;

/// Holds everything besides the values of its fields that a run needs to continue as if it had never stopped.
struct CheckpointHeader {
  std::int64_t step = 0;
  double time = 0.0;
  /// Holds the precision of the run; tf32 is stored as float32.
  Precision precision = Precision::fp64;
  std::string input;  // resolved, as TOML
  std::string plan;
  std::string weights;  // a checksum of the stencil, or of the canonical form of the equations
  std::vector<std::string> fields = {default_field};  // names, in the order of the problem
  ValueChecksums values = {};
  /// Holds the change of the last step (Schedule::change), for runs until nothing changes.
  std::optional<double> change = {};
};

/// Returns the XXH3_64bits of the taps in hexadecimal digits. It depends on the weights themselves, wherever
/// they were read from.
std::string checksum_of(const Stencil& stencil);

/// Describes a checkpoint on disk.
struct Checkpoint {
  std::filesystem::path file;
  CheckpointHeader header;
  /// Holds the array of each field, followed by that of its previous values if it has them.
  std::vector<StoredArray> arrays;
};

/// Names the array that holds the values of a field one step before: "p.previous" for "p".
constexpr const char* previous_suffix = ".previous";
inline std::string previous_of(const std::string& field) { return field + previous_suffix; }

/// Returns `directory`/checkpoint_<step, 10 digits>.h5.
std::filesystem::path checkpoint_file(const std::filesystem::path& directory, std::int64_t step);

/// Writes a checkpoint of a grid of `dimensions` and `shape`. Collective: every rank gives its `box` and the
/// rows of it in the storage type of header.precision. `arrays` are header.fields in their order, each
/// followed by previous_of() it if the field has previous values. A single array "u" makes a file of format
/// version 1, all others a file of version 2 with attribute "fields". All ranks throw the same
/// Error(file_failure) if the file cannot be written; every older checkpoint then remains.
std::filesystem::path write_checkpoint(const Communicator& communicator,
                                       const std::filesystem::path& directory, const CheckpointHeader& header,
                                       int dimensions, const Index3& shape, const Box& box,
                                       const std::vector<NamedRows>& arrays, const FileTurn& turn = {});

/// Removes all but the newest `keep` (>= 1) of the checkpoints up to `step`, the one just written. Later
/// checkpoints remain; a run that was restarted from an earlier step has not reached them again. Collective.
/// A file that cannot be removed remains too.
void prune_checkpoints(const Communicator& communicator, const std::filesystem::path& directory,
                       std::int64_t step, int keep);

/// Reads everything except the values; a file of format version 1 has the one field "u". Throws
/// Error(file_failure) if the file is missing, damaged or no checkpoint.
Checkpoint open_checkpoint(const std::filesystem::path& file);

/// Opens a checkpoint as open_checkpoint() does, and verifies all checksums, which the ranks share.
/// Collective; all ranks throw the same Error.
Checkpoint verified_checkpoint(const Communicator& communicator, const std::filesystem::path& file);

/// Reads the rank's own points of `field` from the array `name`, which is that of a field or previous_of()
/// one. Collective. Throws Error(invalid_input) if the checkpoint has no such array, or if its storage
/// precision or grid shape differs from the field's.
void read_checkpoint(const Communicator& communicator, const Checkpoint& checkpoint, const std::string& name,
                     const Index3& shape, Field& field);

/// Holds the newest checkpoint of a directory whose checksums hold.
struct LatestCheckpoint {
  std::optional<Checkpoint> checkpoint;  // nothing where there is none
  std::vector<std::string> skipped;      // newer files and what is wrong with them, newest first
};

/// Finds the newest checkpoint. Collective; the result is the same on every rank. Temporary files of killed
/// runs are ignored.
LatestCheckpoint find_latest_checkpoint(const Communicator& communicator,
                                        const std::filesystem::path& directory);

}  // namespace spsolve
