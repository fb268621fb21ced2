// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "halo/communicator.hpp"
#include "io/atomic_file.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

/// Throws Error(invalid_input) if there are results in the directory. Collective.
void require_no_results(const Communicator& communicator, const std::filesystem::path& directory);

/// Throws Error(invalid_input) if `file`, which is to be read, is one of the results there, which are to be
/// replaced. Collective.
void require_not_replaced(const Communicator& communicator, const std::filesystem::path& directory,
                          const std::filesystem::path& file);

/// Makes the output directory ready. If it holds results of another run, it is an Error(invalid_input) unless
/// `overwrite`, which removes them (only files of spsolve's own names), or `restart`, which keeps them. A
/// directory that cannot be made or written is an Error(file_failure). What rank 0 gets keeps other runs out
/// of the directory as long as it lives, where the file system has locks: while another has it, it is an
/// Error(invalid_input). Collective.
[[nodiscard]] std::optional<FileDescriptor> prepare_run_directory(const Communicator& communicator,
                                                                  const std::filesystem::path& directory,
                                                                  bool overwrite, bool restart);

/// Begins diagnostics.csv, or, on a restart, drops its rows after `step`. Collective.
void begin_diagnostics_file(const Communicator& communicator, const std::filesystem::path& directory,
                            std::int64_t step);

/// Adds a row. Collective.
void add_diagnostics_row(const Communicator& communicator, const std::filesystem::path& directory,
                         std::int64_t step, double time, const Diagnostics& diagnostics);

}  // namespace spsolve
