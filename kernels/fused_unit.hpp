// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/sweep.hpp"
#include "kernels/unit.hpp"

namespace spsolve {

/// Lets work run beside what is enqueued: what is enqueued by units of the branch between fork() and join()
/// sees what was there at fork(), and what is enqueued after join() sees it. On a CPU everything is done when
/// a call returns, and there is nothing to do.
class Branch {
 public:
  virtual ~Branch() = default;
  virtual void fork() const {}
  virtual void join() const {}
};

/// A launch of `steps` time steps as one sweep with fused weights (docs/design.md) where no ghost point of a
/// wall without images is within reach, and as true single steps in the bands of steps * radius points beside
/// such walls. Which
/// of the two takes a point depends on its place in the grid alone, so results do not depend on how the grid
/// is decomposed. Launches of other lengths are single steps everywhere: they are rare, and one pass over
/// memory as well.
class FusedUnit : public Unit {
 public:
  /// `sweep` correlates with the fused weights of `steps` steps; `exact` takes true single steps, on
  /// `branch`. `fused_source` (or null), made by make_fused_source() for all that is advanced, must outlive
  /// the unit, as the source of `exact` does.
  FusedUnit(const Domain& domain, const Index3& radius, int steps, std::unique_ptr<Sweep> sweep,
            std::unique_ptr<Branch> branch, std::unique_ptr<Unit> exact, const Field* fused_source);

  void fill_ghosts(const State& state, const Box& valid) const override;
  void prepare(const ConstState& in, const Box& region, int steps) const override;
  Box scaled(int steps) const override { return sweep_->scales_data() ? core(domain_.box(), steps) : Box{}; }
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  /// What of `region` the sweep takes.
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

/// The source of fused steps on `region`, away from walls without images (the others have the value 0):
/// sum_{i < steps} w^i * s, which is `steps` single steps of a zero field. `exact` has the source s, and the
/// precision of sums. `zero` is made like `fused`, and must stay until what this enqueues is done.
void make_fused_source(const Unit& exact, int steps, const Box& region, const Field& zero, Field& fused);

}  // namespace spsolve
