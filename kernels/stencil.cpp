// SPDX-License-Identifier: Apache-2.0
#include "kernels/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <numbers>
#include <stdexcept>

namespace spsolve {

namespace {

/// Weights over a box of offsets that holds the origin, x fastest.
template <class Number>
struct DenseWeights {
  Box offsets;
  std::vector<Number> values = std::vector<Number>(offsets.points());

  Number& operator[](const Index3& offset) {
    return values[index_of(offset - offsets.begin, offsets.extent())];
  }
};

/// The smallest box that holds the origin and the offsets of every tap.
Box offset_box(const std::vector<Tap>& taps) {
  Box box = box_of({1, 1, 1});
  for (const Tap& tap : taps) box = hull(box, tap.offset);
  return box;
}

/// Returns at most `count` of the n wave numbers 2 pi m / n of a grid axis, evenly spread. 0 and the shortest
/// wave are included.
std::vector<double> wave_numbers(std::int64_t n, std::int64_t count) {
  count = std::min(n, count);
  std::vector<double> waves(count);
  for (std::int64_t j = 0; j < count; ++j) {
    const double fraction =
        std::round(static_cast<double>(j) / static_cast<double>(count) * static_cast<double>(n));
    waves[j] = 2.0 * std::numbers::pi * fraction / static_cast<double>(n);
  }
  return waves;
}

using Numbers = std::vector<std::complex<double>>;

/// Adds the waves of one offset: sums[wave][value] += value * exp(i wave offset).
void add_waves(const std::vector<double>& waves, std::int64_t offset, const Numbers& values, Numbers& sums) {
  sums.resize(waves.size() * values.size());
  auto sum = sums.begin();
  for (const double wave : waves) {
    const std::complex<double> factor = std::polar(1.0, wave * static_cast<double>(offset));
    for (const std::complex<double>& value : values) *sum++ += factor * value;
  }
}

}  // namespace

Stencil::Stencil(const Index3& extent, const std::vector<double>& weights, const Index3& center) {
  // The product of hostile extents may overflow, so divide instead of multiplying.
  std::size_t rest = weights.size();
  bool fits = !weights.empty();
  for (const std::int64_t n : extent) {
    fits = fits && n > 0 && rest % static_cast<std::size_t>(n) == 0;
    if (fits) rest /= static_cast<std::size_t>(n);
  }
  if (!fits || rest != 1)
    throw std::invalid_argument("the number of weights is not the product of their extents");
  for (int axis = 0; axis < axis_count; ++axis)
    if (center[axis] < 0 || center[axis] >= extent[axis])
      throw std::invalid_argument("the center is outside the array of weights");

  auto weight = weights.begin();
  for_each_point(box_of(extent), [&](const Index3& p) {
    if (!std::isfinite(*weight)) throw std::invalid_argument("a weight is not finite");
    if (*weight != 0.0) taps_.push_back({p - center, *weight});
    ++weight;
  });
  if (taps_.empty()) throw std::invalid_argument("every weight is zero");
  for (const Tap& tap : taps_)
    for (int axis = 0; axis < axis_count; ++axis)
      radius_[axis] = std::max(radius_[axis], std::abs(tap.offset[axis]));
}

std::vector<double> dense_weights(const Stencil& stencil) {
  DenseWeights<double> dense{grow(box_of({1, 1, 1}), stencil.radius())};
  for (const Tap& tap : stencil.taps()) dense[tap.offset] = tap.weight;
  return dense.values;
}

double sum_abs(const Stencil& stencil) {
  double sum = 0;
  for (const Tap& tap : stencil.taps()) sum += std::abs(tap.weight);
  return sum;
}

Stencil fuse_steps(const Stencil& stencil, int steps) {
  if (steps < 1) throw std::invalid_argument("the number of fused steps must be at least 1");
  const Box reach = offset_box(stencil.taps());
  DenseWeights<long double> fused{box_of({1, 1, 1})};
  fused.values[0] = 1.0L;
  for (int step = 0; step < steps; ++step) {
    DenseWeights<long double> next{
        {fused.offsets.begin + reach.begin, fused.offsets.end + reach.end - Index3{1, 1, 1}}};
    for_each_point(fused.offsets, [&](const Index3& offset) {
      const long double weight = fused[offset];
      if (weight == 0.0L) return;
      for (const Tap& tap : stencil.taps()) next[offset + tap.offset] += weight * tap.weight;
    });
    fused = std::move(next);
  }
  return Stencil(fused.offsets.extent(), {fused.values.begin(), fused.values.end()},
                 Index3{} - fused.offsets.begin);
}

namespace {

/// Returns the sampled wave numbers of each axis.
std::array<std::vector<double>, 3> waves_of_axes(const Index3& shape) {
  constexpr std::array<std::int64_t, 4> waves_per_axis{1, 32768, 180, 32};  // 2^15 in all
  const auto axes = std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1; });
  std::array<std::vector<double>, 3> waves;
  for (int axis = 0; axis < axis_count; ++axis) waves[axis] = wave_numbers(shape[axis], waves_per_axis[axes]);
  // Weights are real, so the symbol of the opposite wave is the complex conjugate and half of the waves along
  // x suffice.
  waves[x_axis].resize(std::min(waves[x_axis].size() / 2 + 1, waves[x_axis].size()));
  return waves;
}

}  // namespace

std::vector<std::array<double, 3>> sampled_waves(const Index3& shape) {
  const auto of_axes = waves_of_axes(shape);
  std::vector<std::array<double, 3>> waves;
  for (const double z : of_axes[z_axis])
    for (const double y : of_axes[y_axis])
      for (const double x : of_axes[x_axis]) waves.push_back({z, y, x});
  return waves;
}

std::vector<std::complex<double>> sampled_symbol(const Stencil& stencil, const Index3& shape) {
  const auto waves = waves_of_axes(shape);
  // Sum axis by axis: waves along y are applied to summed rows of taps, and waves along z to summed planes.
  std::map<std::array<std::int64_t, 2>, Numbers> rows;
  std::map<std::int64_t, Numbers> planes;
  Numbers symbols;
  for (const Tap& tap : stencil.taps())
    add_waves(waves[x_axis], tap.offset[x_axis], {tap.weight},
              rows[{tap.offset[z_axis], tap.offset[y_axis]}]);
  for (const auto& [at, row] : rows) add_waves(waves[y_axis], at[1], row, planes[at[0]]);
  for (const auto& [z, plane] : planes) add_waves(waves[z_axis], z, plane, symbols);
  return symbols;
}

double growth_factor(const Stencil& stencil, const Index3& shape) {
  double growth = 0.0;
  for (const std::complex<double>& s : sampled_symbol(stencil, shape)) growth = std::max(growth, std::abs(s));
  return growth;
}

}  // namespace spsolve
