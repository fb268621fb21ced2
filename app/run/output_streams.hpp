// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/run/file_queue.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "io/snapshot.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Returns the numbers of the fields with these names, in the order of the problem, or of all fields if there
/// are no names.
std::vector<std::size_t> chosen_fields(const Problem& problem, const std::vector<std::string>& names);

/// Writes the streams of snapshots of [[outputs]].
class OutputStreams {
 public:
  /// `files` writes the streams, and `of_files` are communicators for it alone. All must outlive this object.
  /// Small files are flushed with those of `snapshots`.
  OutputStreams(const FileCommunicators& of_files, const Setup& setup, const Terminal& terminal,
                FileQueue& files, const SnapshotSeries& snapshots);

  /// Writes the streams that are due at `step`, or, if `rest`, all others. Collective.
  void write(std::int64_t step, Block& block, bool rest = false);

 private:
  struct OutputStream {
    OutputStreamConfig config;
    std::vector<std::size_t> fields;
    Box region;             // in indices of the sampled grid
    std::vector<int> axes;  // those axes of the grid that files have, slowest first
    Grid grid;              // the grid of the files; its stride is that of the stream
    SnapshotSeries series;
    std::int64_t written = -1;  // step of the last file
    bool warned_of_range = false;
  };
  void write(OutputStream& stream, std::int64_t step, Block& block);

  const FileCommunicators& of_files_;
  const Setup& setup_;
  const Terminal& terminal_;
  FileQueue& files_;
  std::vector<OutputStream> streams_;
};

}  // namespace spsolve
