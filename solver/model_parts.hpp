// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>

#include "solver/model.hpp"

namespace spsolve {

/// Seconds of parts that overlap except near their balance: the fourth-power mean fits what was measured on
/// GPUs within 17% (docs/kernels-scalar.md).
inline double overlapped(std::initializer_list<double> parts) {
  double sum = 0;
  for (const double part : parts) sum += std::pow(part, 4);
  return std::pow(sum, 0.25);
}

/// Fill in what depends on the unit: bytes, fma, sparsity and the seconds but those of launches.
void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate);
void evaluate_tensor(const Problem& problem, const DeviceModel& device, Candidate& candidate);

}  // namespace spsolve
