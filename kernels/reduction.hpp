// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sampling.hpp"
#include "kernels/summation.hpp"

namespace spsolve {

/// Reduces the owned points of a field. Results have the same bits on every device. `before` is a field with
/// the same owned points and precision; null means that no point changed.
class Reducer {
 public:
  virtual ~Reducer() = default;

  /// Starts the compilation that the first reduction of a field would otherwise wait for.
  virtual void prepare(Precision, const Sampling&) {}
  /// Returns the extremes of a field. Points are numbered in C order of the owned box. If a value is not
  /// finite, only first_not_finite has a meaning. The same pass also copies points to `sample` if it has
  /// values.
  virtual Extremes extremes(const Field& field, const Field* before, const Sample& sample) = 0;
  /// Returns the sums of finite values. `scales` are those of the whole grid.
  virtual Sums sums(const Field& field, const Field* before, const SumScales& scales) = 0;

  /// set_magnitude_bound() sets Field::magnitude_bound(). raise_magnitude_bound() raises it to the largest
  /// magnitude in a box of the field. On a device both calls only enqueue work.
  virtual void set_magnitude_bound(Field& field, int bound) = 0;
  virtual void raise_magnitude_bound(Field& field, const Box& box) = 0;
};

/// Reduces with the threads of this process.
class HostReducer : public Reducer {
 public:
  Extremes extremes(const Field& field, const Field* before, const Sample& sample) override;
  Sums sums(const Field& field, const Field* before, const SumScales& scales) override;
  void set_magnitude_bound(Field& field, int bound) override { *field.magnitude_bound() = bound; }
  void raise_magnitude_bound(Field& field, const Box& box) override;
};

}  // namespace spsolve
