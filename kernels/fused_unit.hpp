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

/// Units that take true single steps, on a branch.
struct ExactUnits {
  std::unique_ptr<Branch> branch;
  std::unique_ptr<Unit> state;  // in the precision of the fields
  std::unique_ptr<Unit> sums;   // with the same source, in the precision of the source; null without source
};

/// A launch of `steps` time steps as one sweep with fused weights (docs/design.md) where no ghost point of a
/// wall is within reach, and as true single steps in the bands of steps * radius points beside walls. Which
/// of the two takes a point depends on its place in the grid alone, so results do not depend on how the grid
/// is decomposed. Launches of other lengths are single steps everywhere: they are rare, and one pass over
/// memory as well.
///
/// The fused source sum_{i < steps} w^i * s is `steps` single steps of a zero field. It is made in the first
/// launch.
class FusedUnit : public Unit {
 public:
  /// `sweep` correlates with the fused weights of `steps` steps. `source` (or null) must outlive the unit, as
  /// that of the exact units does; `memory` is where it lies.
  FusedUnit(const Domain& domain, const Index3& radius, int steps, std::unique_ptr<Sweep> sweep,
            ExactUnits exact, const Field* source, Memory& memory);

  void fill_ghosts(Field& field, const Box& valid) const override;
  void advance(const Field& in, Field& out, const Box& region, int steps) const override;

 private:
  /// What of `region` is farther than the fused weights reach from every wall; empty where nothing is.
  Box inside(const Box& region) const;
  void make_source(const Field& like) const;

  Domain domain_;
  Index3 reach_;
  int steps_;
  std::unique_ptr<Sweep> sweep_;
  ExactUnits exact_;
  const Field* source_;
  Memory* memory_;
  mutable std::unique_ptr<Field> fused_source_;  // advance() is const in what it computes
};

}  // namespace spsolve
