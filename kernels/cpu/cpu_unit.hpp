// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/unit.hpp"

namespace spsolve {

/// The scalar unit on CPU cores: vectorised over x, OpenMP threads over tiles, cache-blocked, temporally
/// fused.
///
/// A launch of t steps streams each tile along the slowest axis once: as soon as a plane of time level l - 1
/// has r more planes before it, level l computes it (2.5D temporal blocking; Nguyen et al. 2010). Only 2r + 1
/// planes of each intermediate level are kept, in cache. The steps are true single steps with ghost points as
/// docs/design.md defines them, so the result has the bits of t launches of one step, beside walls too
/// (16-bit formats: intermediate steps stay in fp32 and are rounded once per launch).
///
/// Per point and launch: one read and one write of storage, and one write-allocate where the last-level cache
/// may keep the fields (beyond it, stores pass the caches); t * taps fused multiply-adds, plus the halo of a
/// tile computed again by its neighbours. Bound by memory for stars, by loads from the first-level cache for
/// boxes (docs/kernels-cpu.md).
class CpuUnit : public Unit {
 public:
  /// `source`, or null: what is added in every step, in compute precision (fp64 for fp64, else fp32), valid
  /// on every region advanced, grown by (steps - 1) * radius. It must outlive the unit.
  CpuUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source);

  void fill_ghosts(const State& state, const Box& valid) const override;
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  Domain domain_;
  Stencil stencil_;
  Precision precision_;
  const Field* source_;
};

}  // namespace spsolve
