// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"
#include "solver/plan/rejected_method.hpp"

namespace spsolve {

/// Holds a part of the initial state, as a grid of its own. Beyond a face that only cuts the part out of the
/// grid, the field is reflected.
struct SampledPart {
  Domain domain;
  Box judged;                         // the points that such a face does not reach in InitialSample::steps
  std::vector<double> field, source;  // on domain.box(), x fastest; `source` is empty if there is none
};

/// Holds parts of the initial state of a single field that a stencil advances.
struct InitialSample {
  int steps = 0;  // the most steps that the parts can take
  std::vector<SampledPart> parts = {};
};

/// Finds out whether a run would lose the changes of its initial state to rounding. A change is lost if it is
/// less than half the distance of two neighbouring numbers of the precision, so that the point keeps its
/// value. A lost change matters if as large a change in every launch would add up, over the run, to more than
/// the accepted error of a step.
class LostChanges {
 public:
  /// `accuracy` is the accepted relative L2 error per step of a run of `run_steps` steps. `stencil` and
  /// `sample` must outlive this object.
  LostChanges(const Stencil& stencil, const InitialSample& sample, double accuracy, std::int64_t run_steps);

  /// Says that the state would freeze if it is rounded to `precision` after every `steps` steps: more than
  /// half of the changes that matter are lost. Returns nothing if the state moves, if nothing changes, or if
  /// there is no sample. More steps than the sample can take are judged by as many as it can.
  std::optional<Refusal> why_frozen(Precision precision, int steps);

 private:
  /// Takes steps in fp64 until states_ holds the state after `steps` steps.
  void advance_to(int steps);

  const Stencil& stencil_;
  const InitialSample& sample_;
  double accepted_per_step_;  // of each step, so that it adds up to the accepted error over the run
  double norm_;               // sum |w| times the root mean square of the field
  std::vector<std::vector<std::vector<double>>> states_;  // by step and part
};

}  // namespace spsolve
