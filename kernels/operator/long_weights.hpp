// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// Weights over a box of offsets that holds the origin, in long double: what repeated convolutions are
/// computed with. Without any they are zero.
class LongWeights {
 public:
  LongWeights() = default;
  /// At offset 0 alone.
  explicit LongWeights(long double weight) : offsets_(box_of({1, 1, 1})), values_{weight} {}
  explicit LongWeights(const std::vector<Tap>& taps);

  bool zero() const { return values_.empty(); }
  const Box& offsets() const { return offsets_; }
  LongWeights times(long double factor) const;
  friend LongWeights operator+(const LongWeights& a, const LongWeights& b);
  /// Returns the convolution: `a` applied to what `b` makes. Added in the order of fuse_steps
  /// (kernels/stencil.hpp).
  friend LongWeights operator*(const LongWeights& a, const LongWeights& b);

  /// Rounded to double; nothing where all weights are zero.
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
