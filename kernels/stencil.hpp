// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"

namespace spsolve {

/// One non-zero weight: u'[p] += weight * u[p + offset] (correlation form, as scipy.ndimage.correlate).
struct Tap {
  Index3 offset{};
  double weight = 0.0;

  friend bool operator==(const Tap&, const Tap&) = default;
};

/// A linear stencil: its non-zero weights in lexicographic order of offset (z, y, x), which is also the order
/// in which every unit that sums tap by tap adds them.
class Stencil {
 public:
  /// From a dense array of weights, x fastest, of any extents; weights[center] is the weight of the point
  /// itself. Zero weights cost nothing afterwards. Throws std::invalid_argument on a size that does not fit,
  /// a center outside the array, a weight that is not finite, or no non-zero weight at all.
  Stencil(const Index3& extent, const std::vector<double>& weights, const Index3& center);

  const std::vector<Tap>& taps() const { return taps_; }
  /// Largest |offset| of any tap, per axis.
  const Index3& radius() const { return radius_; }

 private:
  std::vector<Tap> taps_;
  Index3 radius_{};
};

/// The dense weights over [-radius, radius] on each axis, x fastest.
std::vector<double> dense_weights(const Stencil& stencil);

/// sum |w|: how much a step magnifies the largest value at most.
double sum_abs(const Stencil& stencil);

/// `steps` time steps as one stencil: the steps-fold convolution of the weights with themselves, summed in
/// long double, radius steps * r. Exact only where no ghost point of a wall is reached (docs/design.md).
Stencil fuse_steps(const Stencil& stencil, int steps);

/// The symbol sum_k w[k] exp(i k . theta) of one step at up to 2^15 waves theta = 2 pi m / shape, half of the
/// conjugate pairs, always with the constant and, where the grid has it, the shortest wave.
std::vector<std::complex<double>> sampled_symbol(const Stencil& stencil, const Index3& shape);
/// Their theta {z, y, x}, in the same order.
std::vector<std::array<double, 3>> sampled_waves(const Index3& shape);

/// The symbol of one step at the wave theta {z, y, x}.
std::complex<double> symbol_at(const Stencil& stencil, const std::array<double, 3>& theta);

/// The largest score(symbol) over the waves that a grid has, up to 2^15 of them and those beside the best: on
/// an axis of n points
///   - 2 pi m / n, periodic,
///   - pi m / n between neumann walls, m = 0 .. n - 1,
///   - pi m / (n + 1) between dirichlet walls, m = 1 .. n, and pi (2 m + 1) / (2 n + 1) beside one of each,
///   of
///     weights that reach one point.
/// These are the eigenvectors of a step whose weights are the same in both directions of an axis with walls
/// (LeVeque, Finite Difference Methods for ODEs and PDEs, 2007, section 2.10). Elsewhere no wave is one, and
/// all waves of any length bound what happens.
double largest_over_waves(const Stencil& stencil, const Domain& domain,
                          const std::function<double(std::complex<double>)>& score);

/// Growth factor of one step: the largest |symbol| of the weights over the waves of the grid (von Neumann);
/// above 1 the solution grows. By a shape alone: on a periodic grid.
double growth_factor(const Stencil& stencil, const Domain& domain);
double growth_factor(const Stencil& stencil, const Index3& shape);

/// A periodic grid.
Domain periodic_domain(const Index3& shape);

}  // namespace spsolve
