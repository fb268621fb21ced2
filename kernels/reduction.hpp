// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sampling.hpp"
#include "kernels/summation.hpp"

namespace spsolve {

/// Passes over the owned points of a field that leave a few numbers, which have the same bits on any device.
/// `before` (or null: no change) is a field of the same owned points and precision.
class Reducer {
 public:
  virtual ~Reducer() = default;

  /// Begins what takes time when a field is first passed over: compiling.
  virtual void prepare(Precision, const Sampling&) {}
  /// Points are numbered in C order of the owned box. Where one is not finite the other extremes mean
  /// nothing. On the way, what `sample` has room for is kept.
  virtual Extremes extremes(const Field& field, const Field* before, const Sample& sample) = 0;
  /// Of finite values; `scales` are those of the whole grid.
  virtual Sums sums(const Field& field, const Field* before, const SumScales& scales) = 0;

  /// Sets Field::largest(), and lets it grow to what a box of the field holds; on a device only enqueued.
  virtual void set_largest(Field& field, int largest) = 0;
  virtual void find_largest(Field& field, const Box& box) = 0;
};

/// By threads of this process.
class HostReducer : public Reducer {
 public:
  Extremes extremes(const Field& field, const Field* before, const Sample& sample) override;
  Sums sums(const Field& field, const Field* before, const SumScales& scales) override;
  void set_largest(Field& field, int largest) override { *field.largest() = largest; }
  void find_largest(Field& field, const Box& box) override;
};

}  // namespace spsolve
