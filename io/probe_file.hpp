// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_descriptor.hpp"
#include "io/hdf5/hdf5.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Describes a group of probes.h5.
struct ProbeGroup {
  std::string name;
  std::vector<std::string> fields;
  int axes = 3;
  std::vector<double> at;  // coordinates, point after point, slowest axis first
  std::int64_t every = 1, rows = 0;

  std::int64_t points() const { return static_cast<std::int64_t>(at.size()) / axes; }
};

/// Writes probes.h5, which holds values at points over time. Each group holds /<name>/<field> [rows, points],
/// /<name>/step and /<name>/time [rows] and /<name>/at [points, axes]. Row i belongs to step i * every; row 0
/// is the initial state. Rows that were not reached yet have the step -1, and so have those before
/// the first one of a run that began at a checkpoint of another directory.
///
/// The file has its full size from the beginning, and rows are written at their positions in it, so that a
/// run that is killed at any time leaves a file that opens. All functions are called by one process and throw
/// Error(file_failure).
class ProbeFile {
 public:
  /// Makes the file, or continues one that holds rows up to `kept_step` and drops its later rows. If the file
  /// belongs to other probes, it is replaced. `precision` is fp64 or fp32.
  ProbeFile(std::filesystem::path file, std::vector<ProbeGroup> groups, Precision precision,
            std::int64_t kept_step);

  /// Writes rows [first, first + steps.size()) of a group. `values` holds, for each field in turn, the rows
  /// one after the other in the precision of the file.
  void write(std::size_t group, std::int64_t first, std::span<const std::int64_t> steps,
             std::span<const double> times, std::span<const std::span<const std::byte>> values);
  /// Returns when all written data is on disk.
  void flush();

 private:
  struct Places {
    std::int64_t step, time;
    std::vector<std::int64_t> fields;
  };
  void create(std::int64_t kept_step);
  void lay_out();
  void copy_rows(hid_t former, std::size_t number, std::int64_t kept_step);

  std::filesystem::path file_;
  std::optional<FileDescriptor> open_;  // from the first rows on
  std::vector<ProbeGroup> groups_;
  Precision precision_;
  std::vector<Places> places_;  // byte offsets, by group
};

}  // namespace spsolve
