// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/strides/long_weights.hpp"

namespace spsolve {

/// Holds a square matrix of weights: u_i' = sum_j W_ij * u_j.
class StencilMatrix {
 public:
  /// Makes a matrix of zeros.
  explicit StencilMatrix(int size) : size_(size), entries_(static_cast<std::size_t>(size) * size) {}

  int size() const { return size_; }
  LongWeights& at(int row, int column) { return entries_[static_cast<std::size_t>(row) * size_ + column]; }
  const LongWeights& at(int row, int column) const {
    return entries_[static_cast<std::size_t>(row) * size_ + column];
  }

 private:
  int size_;
  std::vector<LongWeights> entries_;
};

/// Describes one step of a linear system with constant weights as a matrix (companion form). The unknowns are
/// the fields at step n, in their order, then those of `previous` one step before; `.next` is replaced by the
/// equation that made it.
struct StepMatrix {
  StencilMatrix matrix;
  std::vector<int> previous;  // fields that are read one step before
};

/// Returns the matrix, or nothing if an equation is not linear or its weights vary. Terms without fields are
/// ignored.
std::optional<StepMatrix> step_matrix(const Canonical& canonical);

/// Holds the weights of t steps at once: u(n + t) = now * u(n) + previous * u(n - t).
struct StrideLeapfrog {
  Stencil now;
  double previous;
};

/// Returns the weights of t steps of u(n + 1) = s * u(n) - q u(n - 1) at once: `now` is L_t and `previous` is
/// -q^t, where L_0 = 2, L_1 = s, L_{k+1} = s * L_k - q L_{k-1}. They are computed in long double, then
/// rounded. Throws std::invalid_argument for t < 1.
StrideLeapfrog stride_leapfrog(const Stencil& s, double q, int t);

/// Holds s and q of the equation u(n + 1) = s * u(n) - q u(n - 1).
struct TwoLevelEquation {
  Stencil s;
  double q;
};
std::optional<TwoLevelEquation> two_level_equation(const Canonical& canonical);

}  // namespace spsolve
