// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"

namespace spsolve {

/// Holds one non-zero weight: u'[p] += weight * u[p + offset] (correlation form, as scipy.ndimage.correlate).
struct Tap {
  Index3 offset{};
  double weight = 0.0;

  friend bool operator==(const Tap&, const Tap&) = default;
};

/// Holds a linear stencil: the non-zero weights in lexicographic order of offset (z, y, x). Every unit that
/// sums tap by tap adds them in this order.
class Stencil {
 public:
  /// Reads a dense array of weights of any extents, x fastest. weights[center] is the weight of the point
  /// itself. Zero weights are dropped. Throws std::invalid_argument if the number of weights does not fit
  /// `extent`, `center` is outside the array, a weight is not finite, or all weights are zero.
  Stencil(const Index3& extent, const std::vector<double>& weights, const Index3& center);

  const std::vector<Tap>& taps() const { return taps_; }
  /// Returns the largest |offset| of any tap, per axis.
  const Index3& radius() const { return radius_; }

 private:
  std::vector<Tap> taps_;
  Index3 radius_{};
};

/// Returns the dense weights over [-radius, radius] on each axis, x fastest.
std::vector<double> dense_weights(const Stencil& stencil);

/// Returns sum |w|, an upper bound of the amplification of the largest value per step.
double sum_abs(const Stencil& stencil);

/// Returns true if the weights are the same in both directions of an axis.
bool is_even(const Stencil& stencil, int axis);

/// Returns the stencil of `steps` time steps: the steps-fold convolution of the weights with themselves,
/// summed in long double, with radius steps * r. It is exact only where no ghost point of a wall is read
/// (docs/internals/numerics.md).
Stencil fuse_steps(const Stencil& stencil, int steps);

/// Returns the symbol sum_k w[k] exp(i k . theta) of one step at up to 2^15 waves theta = 2 pi m / shape. One
/// wave of each conjugate pair is sampled. The constant is always included, and so is the shortest wave if
/// the grid holds it.
std::vector<std::complex<double>> sampled_symbol(const Stencil& stencil, const Index3& shape);
/// Returns the wave numbers theta {z, y, x} of sampled_symbol(), in the same order.
std::vector<std::array<double, 3>> sampled_waves(const Index3& shape);

/// Returns the symbol of one step at the wave theta {z, y, x}.
std::complex<double> symbol_at(const Stencil& stencil, const std::array<double, 3>& theta);

/// Holds the waves first + m step, m = 0 .. count - 1, of an axis, in radians per point.
struct AxisWaves {
  std::int64_t count = 1;
  double first = 0, step = 0;

  double operator()(std::int64_t m) const { return first + static_cast<double>(m) * step; }
};

/// Returns the waves between two dirichlet, neumann or value walls of an axis of n points. With L, the
/// distance of the walls in spacings (n + 1 between dirichlet walls, n between others), they are
///   - pi m / L, m = 0 .. n - 1, between neumann walls,
///   - pi m / L, m = 1 .. n, between walls with values,
///   - pi (m + 1/2) / L, m = 0 .. n - 1, between one wall of each kind.
/// These waves are the eigenvectors of a step whose weights are the same in both directions of the axis, of
/// radius 1 beside dirichlet walls and of at most n beside value walls (LeVeque, Finite Difference Methods
/// for ODEs and PDEs, 2007, section 2.10).
AxisWaves waves_between(const std::array<Face, 2>& walls, std::int64_t n);

/// Returns the largest score(symbol) over the waves that the grid holds. Up to 2^15 waves are sampled. If
/// there are more, a local search starts at the best of them. An axis of n points holds the waves 2 pi m / n
/// if it is periodic, and those of waves_between() if they are eigenvectors. For other weights no wave is an
/// eigenvector, and waves of any length are sampled, whose symbols bound the growth.
double largest_over_waves(const Stencil& stencil, const Domain& domain,
                          const std::function<double(std::complex<double>)>& score);

/// Returns the growth factor of one step (von Neumann): the largest |symbol| over the waves of the grid. The
/// solution grows if it is above 1.
double growth_factor(const Stencil& stencil, const Domain& domain);
/// Returns the growth factor on the periodic grid of `shape`.
double growth_factor(const Stencil& stencil, const Index3& shape);

/// Returns a grid that is periodic along all three axes.
Domain periodic_domain(const Index3& shape);

}  // namespace spsolve
