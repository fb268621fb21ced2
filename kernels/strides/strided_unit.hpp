// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/sweep.hpp"
#include "kernels/unit.hpp"

namespace spsolve {

/// Holds the sweeps of a StridedUnit; kernels/strides/stride_weights.hpp has their weights.
struct StrideSweeps {
  /// This sweep has the weights L_t; its source is multiplied by -q^t.
  std::unique_ptr<Sweep> stride;
  /// These take the first launch. The sweeps of the difference add the source unchanged.
  std::unique_ptr<Sweep> state_from_state, state_from_difference;
  std::unique_ptr<Sweep> difference_from_state, difference_from_difference;
  /// Computes in - source, point by point and rounded once.
  std::unique_ptr<Sweep> minus_source;
};

/// Takes launches of `steps` time steps of one linear equation with two time levels and constant weights as
/// sweeps. They replace u(n - t) by u(n + t) = L_t*u(n) - q^t u(n - t), and likewise the difference w(n) =
/// u(n) - u(n - 1). The weights must hold everywhere: every wall needs reflections
/// (kernels/wall_reflections.hpp). Another unit takes launches of one step.
///
/// Results equal those of single steps within the error bound of the sweeps, not bit by bit. They do not
/// depend on the decomposition.
class StridedUnit : public Unit {
 public:
  StridedUnit(const Domain& domain, int steps, StrideSweeps sweeps, std::unique_ptr<Unit> single_steps);

  void fill_ghosts(const State& state, const Box& valid) const override;
  void prepare(const ConstState& in, const Box& region, int steps) const override;
  Box scaled_region(int steps) const override;

  /// Launches of one step read u(n) and u(n - 1). The others read u(n) and w(n), and, if `in` has four
  /// fields, u(n - t) and w(n - t), which must be those of `out`. They write u(n + t) and w(n + t).
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

  void swap_difference(const Field& state, Field& other, const Box& region) const override;

 private:
  Domain domain_;
  int steps_;
  StrideSweeps sweeps_;
  std::unique_ptr<Unit> single_steps_;
};

}  // namespace spsolve
