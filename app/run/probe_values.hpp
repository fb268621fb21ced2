// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/setup/points.hpp"
#include "halo/communicator.hpp"
#include "halo/decomposition.hpp"
#include "kernels/points/point_work.hpp"

namespace spsolve {

/// Makes values at points between grid points, on any number of ranks. A point whose grid points belong to
/// one rank gets its value there. Other points get theirs on rank 0, from the values of their grid points.
/// Both ways sum the same products in the same order and round once, so that values do not depend on the
/// ranks.
class ProbeValues {
 public:
  /// `corners` are the grid points around each point with their weights.
  ProbeValues(const std::vector<std::vector<Corner>>& corners, const Decomposition& decomposition, int rank);

  /// Returns the largest number of grid points that a rank records of one field.
  std::int64_t max_recorded() const { return max_recorded_; }
  /// Adds to `group` what this rank records of the given fields. A row holds the values of the first field,
  /// then those of the second, and so on.
  void record(const std::vector<std::size_t>& fields, RecordedPoints& group) const;

  /// Returns, on rank 0 and by field, the values at all points, row after row; nothing on other ranks. `own`
  /// holds what this rank has recorded of `rows` rows, in `precision`, fp64 or fp32. The bytes last until the
  /// next call, and as long as `own`. Collective.
  std::vector<std::span<const std::byte>> gather(const Communicator& communicator,
                                                 std::span<const std::byte> own, std::int64_t fields,
                                                 std::int64_t rows, Precision precision);

 private:
  /// Is a value that a rank has recorded, and its share in the value at a point.
  struct RecordedShare {
    std::size_t rank;
    std::int64_t number;
    double weight;
  };
  template <class Value>
  void assemble(std::span<const std::byte> gathered, std::int64_t fields, std::int64_t rows);

  std::vector<Index3> own_;           // grid points of this rank
  std::vector<PointShare> shares_;    // the shares of grid points in the values of this rank
  std::vector<std::size_t> starts_;   // where values start in shares_, and the end
  std::vector<std::int64_t> counts_;  // the number of values of one field, by rank
  std::int64_t max_recorded_ = 0;
  std::vector<RecordedShare> parts_;      // all parts of the values at points
  std::vector<std::size_t> part_starts_;  // where points start in parts_, and the end
  std::vector<std::byte> gathered_;
  std::vector<std::vector<std::byte>> assembled_;  // by field
};

}  // namespace spsolve
