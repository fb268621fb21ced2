// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/step_program.hpp"
#include "solver/plan/model.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {

/// Predicts the time of launches of a system of equations.
class EquationsModel {
 public:
  /// `problem` and `device` must outlive the model. Throws Error(invalid_input) if a GPU has no kernel for
  /// the statements.
  EquationsModel(const Problem& problem, const DeviceModel& device);

  /// Returns the numbers of a candidate of the scalar unit. The seconds are infinite if there is no kernel;
  /// `no_kernel` says why.
  Candidate evaluate(const Method& method) const;

 private:
  const Problem& problem_;
  const DeviceModel& device_;
  std::vector<StepProgram> programs_;  // the programs of the groups of statements; empty for GPUs
  std::optional<TwoLevelEquation>
      two_levels_;  // nothing on CPUs, and for systems that such marches do not take
};

}  // namespace spsolve
