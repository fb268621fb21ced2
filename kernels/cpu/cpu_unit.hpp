// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/tap_schedule.hpp"
#include "kernels/unit.hpp"

namespace spsolve {

/// Advances a block on CPU cores by the scalar unit: vectorised along x, parallel over tiles (OpenMP), with
/// cache blocking and temporal blocking.
///
/// A launch of t steps streams each tile along the slowest axis once. As soon as level l - 1 is r planes
/// ahead, level l computes its next plane (2.5D temporal blocking; Nguyen et al. 2010). Only 2r + 1 planes of
/// each intermediate level are kept, in cache.
///
/// The steps are single steps with ghost points as docs/internals/numerics.md defines them. The result
/// therefore has the bits of t launches of one step, beside walls too. In 16-bit formats intermediate steps
/// stay in fp32 and are rounded once per launch.
///
/// The cost per point and launch is one read and one write of storage, one write-allocate if the fields fit
/// into the last-level cache (larger fields use non-temporal stores), and t * taps fused multiply-adds, plus
/// the overlap of tiles that neighbours compute twice. Stars are limited by memory bandwidth, boxes by loads
/// from the first-level cache (docs/internals/kernels-cpu.md).
class CpuUnit : public Unit {
 public:
  /// `source` is added in every step; null adds nothing. It has compute precision (fp64 for fp64, else fp32),
  /// is valid on every region that is advanced, grown by (steps - 1) * radius, and must outlive the unit.
  CpuUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source);

  void fill_ghosts(const State& state, const Box& valid) const override;
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  Domain domain_;
  Stencil stencil_;
  Precision precision_;
  const Field* source_;
  TapSchedule<double> one_row_;
  std::optional<TapSchedule<double>> group_;  // sums rows of neighbouring planes, in single steps
};

/// Returns the number of planes that a tile keeps in cache in launches of `steps` steps of a stencil with
/// this radius along the stream axis: 2r + 1 of each time level, and one that is written.
constexpr std::int64_t planes_of_stencil(int steps, std::int64_t radius) {
  return steps * (2 * radius + 1) + 1;
}

}  // namespace spsolve
