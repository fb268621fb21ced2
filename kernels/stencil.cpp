// SPDX-License-Identifier: Apache-2.0
#include "kernels/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>

#include "kernels/wall_growth.hpp"

namespace spsolve {

namespace {

/// Holds weights over a box of offsets that holds the origin, x fastest.
template <class Number>
struct DenseWeights {
  Box offsets;
  std::vector<Number> values = std::vector<Number>(offsets.points());

  Number& operator[](const Index3& offset) {
    return values[index_of(offset - offsets.begin, offsets.extent())];
  }
};

/// Returns the smallest box that holds the origin and the offsets of every tap.
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
  DenseWeights<double> weights{grow(box_of({1, 1, 1}), stencil.radius())};
  for (const Tap& tap : stencil.taps()) weights[tap.offset] = tap.weight;
  return weights.values;
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

AxisWaveNumbers sampled_axes(const Index3& shape) {
  constexpr std::array<std::int64_t, 4> waves_per_axis{1, 32768, 180, 32};  // 2^15 in all
  const auto axes = std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1; });
  AxisWaveNumbers waves;
  for (int axis = 0; axis < axis_count; ++axis) waves[axis] = wave_numbers(shape[axis], waves_per_axis[axes]);
  // Weights are real, so the symbol of the opposite wave is the complex conjugate and half of the waves along
  // x suffice.
  waves[x_axis].resize(std::min(waves[x_axis].size() / 2 + 1, waves[x_axis].size()));
  return waves;
}

std::vector<std::array<double, 3>> combinations_of(const AxisWaveNumbers& of_axes) {
  std::vector<std::array<double, 3>> waves;
  for (const double z : of_axes[z_axis])
    for (const double y : of_axes[y_axis])
      for (const double x : of_axes[x_axis]) waves.push_back({z, y, x});
  return waves;
}

std::vector<std::array<double, 3>> sampled_waves(const Index3& shape) {
  return combinations_of(sampled_axes(shape));
}

std::vector<std::complex<double>> symbols_at(const Stencil& stencil, const AxisWaveNumbers& waves) {
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

bool is_even(const Stencil& stencil, int axis) {
  const std::vector<Tap>& taps = stencil.taps();
  return std::ranges::all_of(taps, [&](Tap opposite) {
    opposite.offset[axis] = -opposite.offset[axis];
    const auto found = std::ranges::lower_bound(taps, opposite.offset, {}, &Tap::offset);
    return found != taps.end() && *found == opposite;
  });
}

namespace {

/// Returns true if the waves are periodic: the wave after the last is the first.
bool is_circle(const AxisWaves& waves) { return waves(waves.count) > 1.5 * std::numbers::pi; }

AxisWaves waves_of_axis(const Stencil& stencil, const Domain& domain, int axis) {
  constexpr double pi = std::numbers::pi;
  constexpr std::int64_t all = 1 << 15;  // samples of waves of any length
  const std::int64_t n = domain.shape[axis], radius = stencil.radius()[axis];
  const auto& faces = domain.faces[axis];
  if (radius == 0) return {};
  if (domain.periodic(axis)) return {n, 0, 2 * pi / static_cast<double>(n)};
  const auto has = [&](BoundaryKind kind) { return std::ranges::count(faces, kind, &Face::kind) > 0; };
  if (is_even(stencil, axis) && (radius == 1 || !has(BoundaryKind::dirichlet)) &&
      (radius <= n || !has(BoundaryKind::value)))
    return waves_between(faces, n);
  return {all, 0, 2 * pi / static_cast<double>(all)};
}

/// Returns the stencil without the taps that reach past the whole grid between dirichlet walls. These taps
/// read only the fixed values of walls and do not change the growth.
Stencil within_dirichlet_walls(const Stencil& stencil, const Domain& domain) {
  const Index3 radius = stencil.radius();
  DenseWeights<double> dense{grow(box_of({1, 1, 1}), radius)};
  dense[{}] = 0.0;
  bool any = false;
  for (const Tap& tap : stencil.taps()) {
    bool seen = false;
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto is_dirichlet = [](const Face& face) { return face.kind == BoundaryKind::dirichlet; };
      seen = seen || (std::ranges::all_of(domain.faces[axis], is_dirichlet) &&
                      std::abs(tap.offset[axis]) >= domain.shape[axis]);
    }
    if (!seen) dense[tap.offset] = tap.weight, any = true;
  }
  return any ? Stencil(dense.offsets.extent(), dense.values, radius) : stencil;
}

}  // namespace

std::vector<std::complex<double>> sampled_symbol(const Stencil& stencil, const Index3& shape) {
  return symbols_at(stencil, sampled_axes(shape));
}

std::complex<double> symbol_at(const Stencil& stencil, const std::array<double, 3>& theta) {
  std::complex<double> sum = 0;
  for (const Tap& tap : stencil.taps()) {
    double phase = 0;
    for (int axis = 0; axis < axis_count; ++axis)
      phase += theta[axis] * static_cast<double>(tap.offset[axis]);
    sum += std::polar(tap.weight, phase);
  }
  return sum;
}

AxisWaves waves_between(const std::array<Face, 2>& walls, std::int64_t n) {
  const auto dirichlet = std::ranges::count(walls, BoundaryKind::dirichlet, &Face::kind);
  const auto with_values = std::ranges::count_if(walls, &Face::has_value);
  const double step = std::numbers::pi / (static_cast<double>(n) + 0.5 * static_cast<double>(dirichlet));
  return {n, 0.5 * static_cast<double>(with_values) * step, step};
}

double largest_over_waves(const Stencil& whole, const Domain& domain,
                          const std::function<double(std::complex<double>)>& score) {
  const Stencil stencil = within_dirichlet_walls(whole, domain);
  constexpr std::array<std::int64_t, 4> waves_per_axis{1, 32768, 180, 32};  // 2^15 in all
  std::array<AxisWaves, 3> axes;
  for (int axis = 0; axis < axis_count; ++axis) axes[axis] = waves_of_axis(stencil, domain, axis);
  const auto several = std::ranges::count_if(axes, [](const AxisWaves& waves) { return waves.count > 1; });

  std::array<std::vector<double>, 3> sampled;
  std::array<std::vector<std::int64_t>, 3> numbers;
  bool has_all = true;  // every wave is sampled
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t count = std::min(axes[axis].count, waves_per_axis[several]);
    has_all = has_all && count == axes[axis].count;
    for (std::int64_t i = 0; i < count; ++i) {
      // Spread the samples evenly: along a circle with the shortest wave in its middle, or from end to end.
      const bool circle = is_circle(axes[axis]);
      const std::int64_t gaps = circle ? count : std::max<std::int64_t>(count - 1, 1);
      const std::int64_t last = circle ? axes[axis].count : axes[axis].count - 1;
      const double part = static_cast<double>(i) / static_cast<double>(gaps);
      numbers[axis].push_back(static_cast<std::int64_t>(std::round(part * static_cast<double>(last))));
      sampled[axis].push_back(axes[axis](numbers[axis].back()));
    }
  }
  const Numbers symbols = symbols_at(stencil, sampled);
  double best = -std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i)
    if (const double found = score(symbols[i]); found > best) best = found, at = i;
  if (has_all) return best;

  const Index3 extent{std::ssize(sampled[z_axis]), std::ssize(sampled[y_axis]), std::ssize(sampled[x_axis])};
  Index3 wave = point_of(static_cast<std::int64_t>(at), extent);
  for (int axis = 0; axis < axis_count; ++axis)
    wave[axis] = numbers[axis][static_cast<std::size_t>(wave[axis])];
  const auto try_wave = [&](Index3 other) {
    for (int axis = 0; axis < axis_count; ++axis) {
      if (is_circle(axes[axis])) other[axis] = wrap(other[axis], axes[axis].count);
      if (other[axis] < 0 || other[axis] >= axes[axis].count) return false;
    }
    const double found = score(symbol_at(stencil, {axes[0](other[0]), axes[1](other[1]), axes[2](other[2])}));
    if (found <= best) return false;
    best = found;
    wave = other;
    return true;
  };
  // Try all of the longest waves. A velocity affects them by direction, and samples are far apart there.
  constexpr std::int64_t longest = 4;
  for_each_point(grow(box_of({1, 1, 1}), {longest, longest, longest}), try_wave);
  // Search from the best wave so far to better neighbours, by ever smaller steps.
  for (std::int64_t step = 1 << 14; step > 0; step /= 2)
    for (bool better = true; better;) {
      better = false;
      const Index3 centre = wave;
      for_each_point(grow(box_of({1, 1, 1}), {1, 1, 1}),
                     [&](const Index3& way) { better = try_wave(centre + step * way) || better; });
    }
  return best;
}

double growth_factor(const Stencil& stencil, const Domain& domain) {
  const double of_waves =
      largest_over_waves(stencil, domain, [](std::complex<double> symbol) { return std::abs(symbol); });
  const double beside_walls = growth_beside_walls(stencil, domain);
  return beside_walls > 1.0 ? std::max(of_waves, beside_walls) : of_waves;
}

double growth_factor(const Stencil& stencil, const Index3& shape) {
  return growth_factor(stencil, periodic_domain(shape));
}

Domain periodic_domain(const Index3& shape) {
  Domain domain;
  domain.shape = shape;
  return domain;
}

}  // namespace spsolve
