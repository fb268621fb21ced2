// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds weights in long double over a box of offsets that includes the origin, for repeated convolutions. An
/// empty box stands for zero.
class LongWeights {
 public:
  LongWeights() = default;
  /// Makes a single weight at offset 0.
  explicit LongWeights(long double weight) : offsets_(box_of({1, 1, 1})), values_{weight} {}
  explicit LongWeights(const std::vector<Tap>& taps);

  bool zero() const { return values_.empty(); }
  const Box& offsets() const { return offsets_; }
  LongWeights times(long double factor) const;
  friend LongWeights operator+(const LongWeights& a, const LongWeights& b);
  /// Returns the convolution: `a` applied to the result of `b`. Products are added in the order of fuse_steps
  /// (kernels/stencil.hpp).
  friend LongWeights operator*(const LongWeights& a, const LongWeights& b);

  /// Returns the weights rounded to double, or nothing if all are zero.
  std::optional<Stencil> stencil() const;

 private:
  explicit LongWeights(const Box& offsets) : offsets_(offsets), values_(offsets.points()) {}
  long double& operator[](const Index3& offset) {
    return values_[index_of(offset - offsets_.begin, offsets_.extent())];
  }
  long double operator[](const Index3& offset) const {
    return values_[index_of(offset - offsets_.begin, offsets_.extent())];
  }

  Box offsets_;
  std::vector<long double> values_;
};

}  // namespace spsolve
