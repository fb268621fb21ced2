// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// Represents weights as a polynomial in shifts of the grid. Sums of formulas add weights and products
/// convolve them. A number stands for that multiple of the identity.
class Formula {
 public:
  Formula(double multiple = 0.0) { weights_[{}] = multiple; }
  /// Returns the formula u[p + offset].
  static Formula at(const Index3& offset);

  Formula& operator+=(const Formula& other);
  friend Formula operator+(Formula a, const Formula& b) { return a += b; }
  friend Formula operator-(const Formula& a, const Formula& b) { return a + -1.0 * b; }
  friend Formula operator*(const Formula& a, const Formula& b);

  /// Returns sum |w|, an upper bound of the amplification of any wave.
  double magnitude() const;
  /// Returns the stencil of these weights, without weights that cancel except for rounding.
  Stencil stencil() const;

 private:
  std::map<Index3, double> weights_;
};

/// Returns a derivative at `place` (the value if `derivative` is 0) of the polynomial through the points
/// `first` to `last` of an axis, in units of the spacing (B. Fornberg, Math. Comp. 51 (1988) 699).
Formula difference(int axis, int derivative, int first, int last, double place = 0.0);
/// Returns the derivative by the narrowest central difference of an even order.
Formula central(int axis, int derivative, int order);
/// Returns the value at `place`, in units of the spacing, of the polynomial through the points `first` to
/// `last`.
inline Formula interpolate(int axis, double place, int first, int last) {
  return difference(axis, 0, first, last, place);
}
/// Returns a formula with the given weights along an axis, the first at offset `first`.
Formula line(int axis, int first, const std::vector<double>& weights);
/// Returns the symmetric weights weights[|k|] for -n <= k <= n. If `odd`, weights with k < 0 are negated.
Formula symmetric(int axis, const std::vector<double>& weights, bool odd = false);
/// Returns a sampled Gaussian up to `radius`, normalized to sum 1.
Formula gaussian(int axis, double sigma, int radius);

/// Returns sum_{j <= order} rate^j / j!: a time step of length 1 of du/dt = rate u by any explicit
/// Runge-Kutta method with as many stages as its order. Order 1 is explicit Euler.
Formula runge_kutta(const Formula& rate, int order);

}  // namespace spsolve
