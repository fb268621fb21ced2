// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/box.hpp"
#include "kernels/domain.hpp"
#include "kernels/state.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// A way to advance a block of the grid in time: plain CPU loops, CUDA cores, sparse tensor cores.
/// Whatever the block, a point is computed by the same operations in the same order, so results do not depend
/// on how the grid is decomposed.
class Unit {
 public:
  virtual ~Unit() = default;

  /// Fills the ghost storage of the fields of `state` beside wall faces that advance() reads, for the rows of
  /// `valid` (a box of points of the domain; its x range does not matter). advance() does so itself for the
  /// rows that it writes, so this is for fields filled by others: initial values, halos received.
  virtual void fill_ghosts(const State& state, const Box& valid) const = 0;

  /// Begins what takes time in the first advance() of such a region: compiling.
  virtual void prepare(const ConstState& /*in*/, const Box& /*region*/, int /*steps*/) const {}

  /// Where on the grid launches of so many steps scale data by Field::largest() of `in`, that of the whole
  /// grid, and let that of `out` grow to what they write; empty if nowhere.
  virtual Box scaled(int /*steps*/) const { return {}; }

  /// Advances `region` by `steps` time steps: out = step^steps(in) on it, with ghost points as docs/design.md
  /// defines them before every single step. `in` must hold data on region grown by steps * radius, cut off at
  /// walls without images and at the ends of axes that repeat for the unit, with its ghosts filled; `out` is
  /// another field of the same geometry; only `region` and ghosts beside it are written.
  virtual void advance(const ConstState& in, const State& out, const Box& region, int steps) const = 0;
};

}  // namespace spsolve
