// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/setup/tables.hpp"
#include "halo/communicator.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Holds the header of a run that has ended, and the file in which it stands (a checkpoint or run.json).
struct FormerRun {
  const CheckpointHeader& header;
  const std::filesystem::path& file;

  /// Returns the input of the run. Throws Error(invalid_input) if it cannot be read.
  RunConfig config() const { return parse_config(header.input, file, {}); }
};

/// Holds the parts of a problem that the text of its input does not contain.
struct Contents {
  Stencils stencils;      // read_stencils()
  ValueChecksums values;  // checksums of the datasets that can be read, by section or key
};

/// Reads the weights of an input and the datasets that it names, because a dataset may have changed under the
/// same name since a former run began. In Contents::values, values over time count for the first
/// `steps` steps, those of the former run. Datasets of `later` are not read, and have the checksums given
/// there. Collective.
Contents contents_of(const Communicator& communicator, const RunConfig& config, Tables& tables,
                     std::int64_t steps, const ValueChecksums& later = {});

/// Returns, in words, what makes an input another problem than that of a former run, rather than a longer run
/// or other output of it. `contents` belongs to `config`.
std::vector<std::string> different_problem(const FormerRun& former, const RunConfig& config,
                                           const Contents& contents);

/// Returns, as clauses, why new results of an input would not fit those of a former run: snapshots of other
/// points, fields or precision in one series, other probes, streams or sums. `values` are those of Contents.
std::vector<std::string> different_results(const FormerRun& former, const RunConfig& config,
                                           const ValueChecksums& values, bool has_snapshots);

}  // namespace spsolve
