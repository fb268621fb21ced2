// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/statement_group.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/operator/canonical.hpp"
#include "kernels/operator/filled_face.hpp"
#include "kernels/operator/system_facts.hpp"
#include "kernels/unit.hpp"

namespace spsolve {

/// Advances a system of equations on CPU cores. Each row runs a list of instructions (StepProgram) block by
/// block: the values of a block stay in registers between instructions. A launch of several steps takes tile
/// after tile through all of them while the tile is in cache (FusedSystemLaunch).
///
/// Every point has the bits of canonical_step() (tests/support/evaluate_canonical.hpp), whatever the
/// region and the number of threads. Fields in 16 bits are read as fp32, computed with in fp32 and rounded
/// once when they are stored.
///
/// A statement is computed on the region and on the surrounding points at which later statements read its
/// `.next`. Neighbouring blocks compute these points again instead of exchanging them.
class CpuSystemUnit : public Unit {
 public:
  /// `canonical` repeats along periodic axes (repeating_form()). `fields` holds the grid with the walls of
  /// each field. `coefficients` hold the derived coefficients of `canonical` in compute precision (fp64 for
  /// fp64, else fp32), at every point at which equations read them (SystemFacts::coefficient_reach), beyond
  /// faces too. They and `canonical` must outlive the unit. `filled` holds the faces of BoundaryKind::filled;
  /// a field has them at all of its walls or at none.
  CpuSystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt, Precision precision,
                std::vector<const Field*> coefficients, std::vector<FilledFace> filled = {});

  /// Returns why the launches of a system take single steps, or nothing if they may take several.
  static std::optional<NoKernel> why_single_steps(const SystemFacts& facts,
                                                  const std::vector<Domain>& fields);

  void fill_ghosts(const State& state, const Box& valid) const override;
  /// `in` holds the fields, followed by the previous values that equations read; `out` holds the fields.
  /// If `steps` is not 1, `out` also holds the same previous values, and why_single_steps() must have no
  /// reason.
  /// Points of `out` within halo_radius() of `region` may be written, too.
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  /// Fills the ghost points beside walls across x that hold constants or reflections.
  void fill_row_ends(const State& state, const Box& valid) const;

  const Canonical& canonical_;
  SystemFacts facts_;
  std::vector<Domain> fields_;
  double dt_;
  Precision precision_;
  std::vector<const Field*> coefficients_;
  std::vector<FilledFace> filled_;
  std::vector<StatementGroup> groups_;
  std::vector<std::size_t> previous_;  // per field: index of its previous values in states
};

}  // namespace spsolve
