// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/operator/system.hpp"
#include "kernels/strides/step_matrix.hpp"

namespace spsolve {

/// Describes how one step amplifies the wave that grows most.
struct Growth {
  /// Holds the largest magnitude of an eigenvalue of the symbol matrix over the sampled waves. Eigenvalues
  /// that agree except for rounding are replaced by their mean, which rounding changes less.
  double spectral_radius = 0.0;
  std::array<double, 3> wave{};  // {z, y, x}, radians per point, of the wave with that eigenvalue
  /// Is true if a wave grows linearly although no eigenvalue exceeds 1 in magnitude, because an eigenvalue on
  /// the unit circle is defective. The constant wave is left out: free motion, u(n + 1) = 2 u(n) - u(n - 1),
  /// is the exact solution of a wave equation.
  bool defective = false;
  std::array<double, 3> defective_wave{};
};

/// Returns the growth of a step on a periodic grid of `shape` over the waves of sampled_waves
/// (kernels/stencil.hpp), or over some of these if the matrix is large.
Growth growth_of(const StencilMatrix& step, const Index3& shape);
/// Returns the growth over the waves that the grid holds between the walls of any field (`domains`, one per
/// field): those of largest_over_waves() (kernels/stencil.hpp), by the kinds of the walls. Walls that are
/// filled hold waves of all these lengths. If the weights differ in the two directions of an axis with walls,
/// the waves of a periodic axis are added.
Growth growth_of(const StencilMatrix& step, const std::vector<Domain>& domains);

/// Holds constant values that replace everything that varies, except fields: one value per coefficient,
/// coordinates {z, y, x}, t and n.
struct FrozenValues {
  std::vector<double> coefficients;
  std::array<double, 3> at{};
  double t = 0.0;
  std::int64_t step = 0;
};

/// Returns the system with these values at all points and times. Its weights are constant where it is linear.
System frozen(const System& system, const FrozenValues& values);

}  // namespace spsolve
