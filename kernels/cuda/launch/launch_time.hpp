// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kernels/calibration.hpp"
#include "kernels/domain.hpp"

namespace spsolve::cuda {

/// Returns the seconds of parts of a kernel that run at the same time: those of the longest part, and more if
/// several take about equally long (the norm of order launch.overlap).
inline double overlapped(const Calibration& costs, std::initializer_list<double> parts) {
  double sum = 0;
  for (const double part : parts) sum += std::pow(part, costs.launch.overlap);
  return std::pow(sum, 1 / costs.launch.overlap);
}

/// Returns the share of the device that a kernel fills on this grid, if it fills the device on grids of
/// `enough` points.
inline double utilization(const Domain& domain, double enough) {
  return std::min(1.0, static_cast<double>(domain.box().points()) / enough);
}
/// Returns the share of the device that a kernel fills. A grid of launch.enough_points fills it.
inline double utilization(const Domain& domain, const Calibration& costs) {
  return utilization(domain, costs.launch.enough_points);
}

}  // namespace spsolve::cuda
