// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/sweep.hpp"
#include "kernels/unit.hpp"

namespace spsolve {

/// Lets units of a branch run concurrently with other enqueued work. Work that the branch enqueues between
/// fork() and join() sees everything enqueued before fork(); work enqueued after join() sees what the branch
/// did. On a CPU every call has finished when it returns, so the defaults do nothing.
class Branch {
 public:
  virtual ~Branch() = default;
  virtual void fork() const {}
  virtual void join() const {}
};

/// Takes a launch of `steps` time steps as one sweep with fused weights (docs/internals/numerics.md) where no
/// ghost point of a wall without reflections is within reach. Bands of steps * radius points beside such
/// walls take single steps instead.
///
/// The place of a point in the grid alone decides which method it gets, so results do not depend on the
/// decomposition. Launches of other lengths take single steps everywhere: they are rare, and pass over memory
/// once as well.
class FusedUnit : public Unit {
 public:
  /// `sweep` correlates with the fused weights of `steps` steps. `exact` takes single steps on `branch`.
  /// `fused_source` (may be null) comes from make_fused_source() for all points that are advanced. It must
  /// outlive the unit, and so must the source of `exact`.
  FusedUnit(const Domain& domain, const Index3& radius, int steps, std::unique_ptr<Sweep> sweep,
            std::unique_ptr<Branch> branch, std::unique_ptr<Unit> exact, const Field* fused_source);

  void fill_ghosts(const State& state, const Box& valid) const override;
  void prepare(const ConstState& in, const Box& region, int steps) const override;
  Box scaled_region(int steps) const override {
    return sweep_->scales_data() ? core(domain_.box(), steps) : Box{};
  }
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  /// Returns the part of `region` that the sweep takes.
  Box core(const Box& region, int steps) const {
    return steps == steps_ ? domain_.away_from_walls(region, reach_) : Box{};
  }

  Domain domain_;
  Index3 reach_;
  int steps_;
  std::unique_ptr<Sweep> sweep_;
  std::unique_ptr<Branch> branch_;
  std::unique_ptr<Unit> exact_;
  const Field* fused_source_;
};

/// Computes the source of fused steps on `region`, which lies away from walls without reflections: sum_{i <
/// steps} w^i * s. The other walls must have the value 0. The sum equals `steps` single steps of a zero
/// field. `exact` has the source s and the precision of sums. `zero` has the geometry of `fused` and must
/// stay alive until the enqueued work is done.
void make_fused_source(const Unit& exact, int steps, const Box& region, const Field& zero, Field& fused);

}  // namespace spsolve
