// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/setup/setup.hpp"
#include "app/setup/tables.hpp"
#include "app/setup/terminal.hpp"
#include "app/values/value_summary.hpp"

namespace spsolve {

/// Returns "256 x 256 x 256", without absent axes.
std::string extent_text(const Index3& extent, int dimensions);

/// Prints, before the run, the problem, the plan and the command that shows more of it, the ranks and their
/// memory. Collective.
void print_summary(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
                   const std::string& hint = "; see spsolve plan");

/// Warns if the values of a section are zero everywhere although the input does not give them as one number.
/// Usual causes are a source outside the grid, or a comparison with a coordinate that no point has. Also
/// warns if the format in which the run stores them makes them infinite or zero.
void warn_of_values(const Setup& setup, const std::string& section, const ValueFacts& facts,
                    const Terminal& terminal);

/// Warns of a source that depends on time and is zero at all points of the grid at all times, and of point
/// sources with a formula that is always zero, or a dataset of zeros. Grids of more than 2^22 points are not
/// looked through. Collective.
void warn_of_silent_sources(Tables& tables, const RunConfig& config, const Terminal& terminal);

/// Warns if a run that ends where nothing changes looks for that at no step before its last one.
void warn_of_late_diagnostics(const RunConfig& config, const Terminal& terminal);

/// Holds how many files of one name a run writes, and the bytes of each before compression.
struct FilesOfRun {
  std::string name;  // as counted() takes it
  std::int64_t count;
  double bytes;
  bool at_most = false;  // files may be smaller
  Compression compression = Compression::none;

  double total() const { return static_cast<double>(count) * bytes; }
};

/// Returns all result files that grow with a run: its snapshots, those of each table [[outputs]], its images,
/// probes.h5 and diagnostics.csv. Collective; every rank throws the same Error(invalid_input) if points of
/// probes cannot be read.
std::vector<FilesOfRun> files_of_run(const Setup& setup, Tables& tables);

/// Returns the bytes of a checkpoint.
double checkpoint_bytes(const Setup& setup);

/// Warns if `files`, those of the run, and checkpoints need more space than is free in the file system of the
/// output directory.
void warn_of_full_disk(const Setup& setup, const std::vector<FilesOfRun>& files, const Terminal& terminal);

/// Warns of a weight, a number of the statements or a value of a wall that is too small for the format in
/// which the run computes with it or stores it, and so counts as zero.
void warn_of_vanishing_numbers(const Setup& setup, const Terminal& terminal);

}  // namespace spsolve
