// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// Weights as a polynomial in shifts of the grid: sums and products of formulas are sums and convolutions of
/// weights. A number stands for that multiple of the point itself.
class Formula {
 public:
  Formula(double multiple = 0.0) { weights_[{}] = multiple; }
  /// u[p + offset]
  static Formula at(const Index3& offset);

  Formula& operator+=(const Formula& other);
  friend Formula operator+(Formula a, const Formula& b) { return a += b; }
  friend Formula operator-(const Formula& a, const Formula& b) { return a + -1.0 * b; }
  friend Formula operator*(const Formula& a, const Formula& b);

  /// sum |w|: no wave is amplified by more.
  double magnitude() const;
  /// Without the weights that cancel but for rounding.
  Stencil stencil() const;

 private:
  std::map<Index3, double> weights_;
};

/// The value (derivative 0) or a derivative at `place`, in units of the spacing, of the polynomial through
/// the points `first` to `last` of an axis (B. Fornberg, Math. Comp. 51 (1988) 699).
Formula difference(int axis, int derivative, int first, int last, double place = 0.0);
/// The derivative by the narrowest central difference of an even order.
Formula central(int axis, int derivative, int order);
inline Formula interpolate(int axis, double place, int first, int last) {
  return difference(axis, 0, first, last, place);
}
/// Weights of an axis from the point `first` on.
Formula line(int axis, int first, const std::vector<double>& weights);
/// weights[|k|] for -n <= k <= n, times -1 for k < 0 where `odd`.
Formula mirrored(int axis, const std::vector<double>& weights, bool odd = false);
/// Samples of a Gaussian up to `radius`, sum 1.
Formula gaussian(int axis, double sigma, int radius);

/// sum_{j <= order} rate^j / j!: a time step of du/dt = rate u, of length 1, by any explicit Runge-Kutta
/// method with as many stages as its order; order 1 is explicit Euler.
Formula runge_kutta(const Formula& rate, int order);

}  // namespace spsolve
