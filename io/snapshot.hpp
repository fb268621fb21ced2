// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"
#include "io/atomic_file.hpp"
#include "io/file_turn.hpp"
#include "io/grid.hpp"

namespace spsolve {

/// Describes the solution at one step, for people and their tools.
struct Snapshot {
  std::string name;  // the name of the run
  std::int64_t step = 0;
  double time = 0.0;
  Grid grid;
  std::int64_t stride = 1;                // the points whose indices are multiples of it are kept
  Precision precision = Precision::fp64;  // fp64 or fp32: VTK reads no other
  std::string stream = "snapshot";        // start of file names
  /// `axes` are the axes of `grid` in the names of the input, {z, y, x}: a plane that was cut out may have z
  /// and x.
  std::array<int, 3> axes{z_axis, y_axis, x_axis};
  Compression compression = Compression::none;

  /// Returns the format that every field has in the file.
  ArrayFormat format() const;
};

/// Returns `directory`/<stream>_<step, 10 digits>.hdf.
std::filesystem::path snapshot_file(const std::filesystem::path& directory, std::int64_t step,
                                    const std::string& stream = "snapshot");

/// Writes `directory`/snapshots.hdf.series, or <stream>.hdf.series of another stream, which ParaView opens as
/// one animation. A stream has one series. Entries of a former run are read once, with the first snapshot,
/// because looking for thousands of files takes long. From then on entries are appended. The series may not
/// be on disk yet when a machine fails: a series that is lost or cut short is made anew from the snapshots.
class SnapshotSeries {
 public:
  explicit SnapshotSeries(std::filesystem::path directory, std::string stream = "snapshot")
      : directory_(std::move(directory)), stream_(std::move(stream)) {}
  /// Returns the series that a file holds by its name, or nothing if it is not the name of a series.
  static std::optional<SnapshotSeries> in_file(const std::filesystem::path& file);
  const std::filesystem::path& directory() const { return directory_; }
  const std::string& stream() const { return stream_; }
  std::filesystem::path file() const;

  /// Adds a snapshot to the series. Entries of this and later steps are dropped, because a restarted run
  /// writes them anew. With the first snapshot, entries of former runs whose file is gone are dropped, too.
  /// Throws Error(file_failure).
  void add(std::int64_t step, double time);

  /// Drops the entries of later steps from the file, before the files that they name are removed. Returns
  /// when that is on disk. A full disk has room for it, because the file is shortened in place. A file that
  /// is cut short by a kill is made anew from the snapshots. Throws Error(file_failure).
  void drop_after(std::int64_t step);

  /// Returns the series of another stream in the same directory, whose files are flushed with those of this
  /// one.
  SnapshotSeries of_stream(std::string stream) const;

  /// Returns the files that this rank wrote and that may not be on disk yet: the series and small snapshots,
  /// also those of of_stream().
  UnflushedFiles& unflushed() { return *unflushed_; }

 private:
  bool append(const std::string& name, double time);
  void write();
  std::string text() const;

  std::filesystem::path directory_;
  std::string stream_;
  std::optional<std::map<std::string, double>> times_;  // the times of files by name; names sort as steps do
  std::int64_t bytes_ = 0;                              // size of the file after the last write
  std::shared_ptr<UnflushedFiles> unflushed_ = std::make_shared<UnflushedFiles>();
};

/// Limits the axes whose coordinates a snapshot holds. The coordinates of a longer axis, which only 1D grids
/// have in practice, would be as large as the values.
constexpr std::int64_t max_coordinates = std::int64_t{1} << 20;

/// Writes a snapshot and adds it to the series. Collective: every rank gives its `box` of the array of kept
/// points (kernels/sampling.hpp), and the rows of it in `snapshot.precision`, of one or more fields. The file
/// is VTKHDF ImageData, version 1.0. The point data of each field is a hard link to its dataset, or a virtual
/// dataset of it without the axes of one point, which VTK leaves out. The first field is VTK's active
/// scalars. VTK 9.1 crashes on files with fewer than three axes; VTK 9.3 reads them. VTK counts in int: with
/// more than 2^31 - 1 points the file has no VTKHDF group. The coordinates of each axis of up to
/// max_coordinates points are a dataset z, y or x, the dimension scale of the axis. All ranks throw the same
/// Error(file_failure) if the file cannot be written; an older file of that name then remains. Small files
/// are on disk after a few seconds, or when series.unflushed() is flushed.
std::filesystem::path write_snapshot(const Communicator& communicator, SnapshotSeries& series,
                                     const Snapshot& snapshot, const Box& box,
                                     const std::vector<NamedRows>& fields, const FileTurn& turn = {});

}  // namespace spsolve
