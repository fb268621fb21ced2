// SPDX-License-Identifier: Apache-2.0
#include "app/setup/state_copies.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "solver/block_memory.hpp"

namespace spsolve {
namespace {

/// Describes the snapshots and streams with one sampling: the arrays of the largest file, and an upper bound
/// of the number of files in the whole run.
struct FilesOfSampling {
  std::int64_t arrays = 0;
  double count = 0;

  void add(std::int64_t arrays_of_file, double files) {
    arrays = std::max(arrays, arrays_of_file);
    count += files;
  }
  /// Returns the arrays of `files` files in progress.
  std::int64_t arrays_of(int files) const {
    return arrays * static_cast<std::int64_t>(std::min<double>(count, files));
  }
};

std::map<Sampling, FilesOfSampling> files_by_sampling(const Setup& setup) {
  const auto steps = static_cast<double>(setup.config.time.steps);
  // An interval of 0 steps stands for the last step alone. With others the first step counts as well.
  const auto count = [steps](double every) { return every > 0 ? std::ceil(steps / every) + 1 : 1; };
  const auto fields = static_cast<std::int64_t>(setup.problem.field_count());
  std::map<Sampling, FilesOfSampling> files;
  files[setup.for_snapshots()].add(fields, count(static_cast<double>(setup.config.output.every)));
  for (const OutputStreamConfig& output : setup.config.outputs)
    files[setup.for_outputs(output)].add(output.fields.empty() ? fields : std::ssize(output.fields),
                                         count(output.every_time ? *output.every_time / setup.config.time.dt
                                                                 : static_cast<double>(output.every)));
  // Other files may all have another sampling than checkpoints.
  files.try_emplace(setup.for_checkpoints());
  return files;
}

/// Returns the number of fields that the formulas of sums read.
std::int64_t fields_in_sums(const Setup& setup) {
  std::int64_t fields = 0;
  for (const std::string& name : field_names(setup.config)) fields += sums_use(setup.config, name);
  return fields;
}

}  // namespace

std::vector<StateCopies> state_copies(const Setup& setup, int files) {
  const Problem& problem = setup.problem;
  const bool copies_all = setup.device.cuda || setup.background;
  std::vector<StateCopies> copies;
  for (const auto& [sampling, of_sampling] : files_by_sampling(setup)) {
    if (!copies_all && sampling.stride == 1) continue;
    std::int64_t arrays = of_sampling.arrays_of(files);
    if (sampling == setup.for_checkpoints()) {
      arrays = std::max(arrays,
                        of_sampling.arrays_of(files - 1) + static_cast<std::int64_t>(problem.state_count()));
      const std::int64_t of_sums = fields_in_sums(setup);
      arrays = setup.background ? arrays + of_sums : std::max(arrays, of_sums);
    }
    copies.push_back({sampling, arrays});
  }
  return copies;
}

std::size_t bytes_of_state_copies(const Setup& setup, int files) {
  std::size_t bytes = 0;
  for (const auto& [sampling, arrays] : state_copies(setup, files))
    bytes += static_cast<std::size_t>(arrays) * copy_bytes(setup.decomposition, sampling);
  return bytes;
}

}  // namespace spsolve
