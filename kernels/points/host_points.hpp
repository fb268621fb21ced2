// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/points/point_work.hpp"

namespace spsolve {

/// Works on fields in host memory, with the threads of this process.
class HostPoints : public PointWork {
 public:
  /// Fields have the precision of `fields`.
  HostPoints(PointTable table, AmountsOfStep amounts, Precision fields);

  void provide(std::int64_t first, int steps) override;
  void add(const State& state, std::int64_t step) override;
  void record(const ConstState& state, std::int64_t step) override;
  std::unique_ptr<RecordedRows> fetch(std::size_t group, std::int64_t first, std::int64_t count) override;

 private:
  Precision precision_;                      // the precision of the values that fetch() returns
  std::int64_t first_ = 0;                   // step of the first amounts
  std::vector<double> given_;                // amounts, step after step
  std::vector<std::vector<double>> values_;  // recorded rows, by group
};

}  // namespace spsolve
