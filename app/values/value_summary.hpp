// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "halo/communicator.hpp"
#include "kernels/box.hpp"

namespace spsolve {

/// Summarises the values of a whole grid: minimum, maximum and a checksum. The checksum depends only on the
/// values and their positions, not on the ranks, so it tells whether two files hold the same values.
struct ValueFacts {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  std::string checksum;  // 16 hexadecimal digits
};

/// Gathers ValueFacts from rows that arrive in any order, from several threads at a time.
class ValueSummary {
 public:
  /// `shape` is the shape of the whole grid.
  explicit ValueSummary(const Index3& shape) : shape_(shape) {}

  /// Adds the values of points along x, the first at `begin`. Each point of the grid must be added once.
  void add(const Index3& begin, std::span<const double> values);
  /// Returns the facts of the values that all ranks have added. Collective.
  ValueFacts of_all(const Communicator& communicator) const;

 private:
  Index3 shape_;
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<double> min_{ValueFacts{}.min}, max_{ValueFacts{}.max};
};

}  // namespace spsolve
