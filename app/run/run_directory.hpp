// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/file_descriptor.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

/// Represents the output directory of a run. All functions are collective. Failures of the file system throw
/// Error(file_failure).
class RunDirectory {
 public:
  /// Locks the directory against other runs as long as this object lives, on file systems with locks. If
  /// there is no directory yet, the lock begins with prepare(). If another run has the lock, it throws
  /// Error(invalid_input).
  RunDirectory(const Communicator& communicator, const std::filesystem::path& path);

  /// Throws Error(invalid_input) if there are results.
  void require_no_results() const;
  /// Returns true if `file` is one of the results there.
  bool holds(const std::filesystem::path& file) const;
  /// Returns true if there is a snapshot of `step` or of an earlier step.
  bool holds_snapshots_until(std::int64_t step) const;
  /// Makes the directory ready for a run. Throws Error(invalid_input) if it holds results, unless they are
  /// replaced or continued. `overwrite` removes them (only files that spsolve names). `continued_from` is the
  /// step from which the run continues (-1: its beginning). Files of later steps are removed, because the run
  /// writes them again. If diagnostics.csv is a pipe, it stays open as long as this object lives.
  void prepare(bool overwrite, std::optional<std::int64_t> continued_from);

 private:
  void lock();
  /// Throws Error(file_failure) on all ranks if one of them sees another directory than rank 0, for example
  /// on hosts without a common file system, or cannot write to it.
  void require_one_directory() const;

  Communicator communicator_;
  std::filesystem::path path_;
  std::optional<FileDescriptor> lock_;  // on rank 0
  std::optional<FileDescriptor> rows_;  // on rank 0: diagnostics.csv, if it is a pipe
};

/// Begins diagnostics.csv or, on a restart, drops its rows after `step`. The columns are step, time, and for
/// each field min, max, mean, l2, change_l2; with several fields they end in _<name of the field>. The sums
/// follow by their names. Returns true if the file has a row of `step`. Collective.
bool begin_diagnostics_file(const Communicator& communicator, const std::filesystem::path& directory,
                            const std::vector<std::string>& fields, const std::vector<std::string>& sums,
                            std::int64_t step);

/// Returns `directory`/diagnostics.csv.
std::filesystem::path diagnostics_file(const std::filesystem::path& directory);

/// Adds a row, in the order of the columns. Collective.
void add_diagnostics_row(const Communicator& communicator, const std::filesystem::path& directory,
                         std::int64_t step, double time, const std::vector<Diagnostics>& of_fields,
                         const std::vector<double>& sums);

}  // namespace spsolve
