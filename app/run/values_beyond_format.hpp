// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "app/setup/terminal.hpp"
#include "halo/communicator.hpp"
#include "io/stored_array.hpp"
#include "kernels/precision.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Counts the values of one file that the format of the file makes infinite, and finds out whether the format
/// makes all values zero. The state that the file is written from is finite.
class ValuesBeyondFormat {
 public:
  ValuesBeyondFormat(Precision state, Precision file);

  /// Takes the copies that the file is written from.
  void look_at(const Copies& copies);
  /// Makes the rows of a file count while they are written. Collective.
  void count_in(const Communicator& communicator, std::span<NamedRows> arrays);
  /// Adds the counts of all ranks. Collective.
  void sum(const Communicator& communicator);
  /// Warns if values were counted or all are zero; `file` and `section` name the file and the section of the
  /// input that sets its precision. Returns true if it has warned.
  bool warn(const Terminal& terminal, const std::string& file, const std::string& section) const;

 private:
  bool is_narrower_;
  double max_magnitude_ = 0;  // sum() turns the maximum of this rank into that of all ranks
  std::atomic<std::int64_t> count_{0};
};

}  // namespace spsolve
