// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/box.hpp"
#include "kernels/domain.hpp"
#include "kernels/state.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

class PointWork;

/// Advances a block of the grid in time: by plain CPU loops, CUDA cores or tensor cores. Each point is
/// computed by the same operations in the same order whatever the block, so results do not depend on the
/// decomposition.
class Unit {
 public:
  virtual ~Unit() = default;

  /// Fills the ghost points of the fields of `state` beside wall faces that advance() reads, for the rows of
  /// `valid` (a box of points of the domain; its x range does not matter). advance() does this itself for the
  /// rows that it writes, so call this only for fields filled elsewhere: initial values and received halos.
  virtual void fill_ghosts(const State& state, const Box& valid) const = 0;

  /// Starts the compilation that the first advance() with these arguments would otherwise wait for.
  virtual void prepare(const ConstState& /*in*/, const Box& /*region*/, int /*steps*/) const {}

  /// Returns the part of the grid where launches of `steps` steps scale data by Field::magnitude_bound() of
  /// `in`, which must hold the bound of the whole grid. Such launches raise the bound of `out` to the
  /// magnitudes that they write. The box is empty if no launch scales data.
  virtual Box scaled_region(int /*steps*/) const { return {}; }

  /// Gives the unit the points of its block, which must outlive it and be of the same backend.
  virtual void set_points(const PointWork& /*points*/) {}
  /// Returns true if launches of `steps` steps add amounts to points and record values after every one of
  /// their steps. Other launches leave that to their caller.
  virtual bool works_on_points(int /*steps*/) const { return false; }

  /// Advances `region` by `steps` time steps: out = step^steps(in) on it, with ghost points as
  /// docs/internals/numerics.md defines them before every single step. `in` must hold data on region grown by
  /// steps * radius, with its ghosts filled. That box ends at walls without reflections and at the ends of
  /// axes where the unit wraps indices. `out` has other fields of the same geometry. Only `region` and the
  /// ghosts beside it are written.
  virtual void advance(const ConstState& in, const State& out, const Box& region, int steps) const = 0;

  /// Advances regions that do not overlap, as advance() does each of them. A device may do so side by side.
  virtual void advance_all(const ConstState& in, const State& out, std::span<const Box> regions,
                           int steps) const {
    for (const Box& region : regions) advance(in, out, region, steps);
  }

  /// Computes other = state - other on `region`, rounded once. A unit whose launches of several steps keep
  /// the difference u(n) - u(n - 1) (StridedUnit) turns u(n - 1) into the difference by this call, and the
  /// difference into u(n - 1) by another one. Other units need not implement it.
  virtual void swap_difference(const Field& /*state*/, Field& /*other*/, const Box& /*region*/) const {}
};

}  // namespace spsolve
