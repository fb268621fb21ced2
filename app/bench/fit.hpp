// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/calibration.hpp"

namespace spsolve {

/// Logarithms of what a calibration predicts over what was measured, one for each measurement.
using Residuals = std::function<std::vector<double>(const Calibration&)>;

/// Coefficients of these names with which residuals are least in the mean square: Gauss-Newton steps in the
/// logarithms of the coefficients, each held to its value in `start` by a prior (Levenberg's damping), so
/// that what no measurement depends on stays. bench/fit.py does the same with numpy.
std::map<std::string, double> fit_coefficients(const Calibration& start,
                                               const std::vector<std::string>& names,
                                               const Residuals& residuals);

}  // namespace spsolve
