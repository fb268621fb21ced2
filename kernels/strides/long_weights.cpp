// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/long_weights.hpp"

#include <algorithm>

namespace spsolve {

LongWeights::LongWeights(const std::vector<Tap>& taps) {
  Box box = box_of({1, 1, 1});
  for (const Tap& tap : taps) box = hull(box, tap.offset);
  *this = LongWeights(box);
  for (const Tap& tap : taps) (*this)[tap.offset] += tap.weight;
}

LongWeights LongWeights::times(long double factor) const {
  LongWeights product = *this;
  for (long double& value : product.values_) value *= factor;
  return product;
}

LongWeights operator+(const LongWeights& a, const LongWeights& b) {
  if (a.zero()) return b;
  if (b.zero()) return a;
  Box both;
  for (int axis = 0; axis < axis_count; ++axis) {
    both.begin[axis] = std::min(a.offsets_.begin[axis], b.offsets_.begin[axis]);
    both.end[axis] = std::max(a.offsets_.end[axis], b.offsets_.end[axis]);
  }
  LongWeights sum(both);
  for (const LongWeights* addend : {&a, &b})
    for_each_point(addend->offsets_, [&](const Index3& offset) { sum[offset] += (*addend)[offset]; });
  return sum;
}

LongWeights operator*(const LongWeights& a, const LongWeights& b) {
  if (a.zero() || b.zero()) return {};
  LongWeights product(
      Box{a.offsets_.begin + b.offsets_.begin, a.offsets_.end + b.offsets_.end - Index3{1, 1, 1}});
  std::vector<std::pair<Index3, long double>> taps;
  for_each_point(b.offsets_, [&](const Index3& offset) {
    if (b[offset] != 0.0L) taps.emplace_back(offset, b[offset]);
  });
  for_each_point(a.offsets_, [&](const Index3& offset) {
    const long double weight = a[offset];
    if (weight == 0.0L) return;
    for (const auto& [by, factor] : taps) product[offset + by] += weight * factor;
  });
  return product;
}

std::optional<Stencil> LongWeights::stencil() const {
  std::vector<double> rounded(values_.begin(), values_.end());
  if (std::all_of(rounded.begin(), rounded.end(), [](double weight) { return weight == 0.0; })) return {};
  return Stencil(offsets_.extent(), rounded, -1 * offsets_.begin);
}

}  // namespace spsolve
