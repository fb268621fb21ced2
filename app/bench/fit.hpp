// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/calibration.hpp"

namespace spsolve {

/// Returns logarithms of what a calibration predicts over what was measured, one for each measurement.
using Residuals = std::function<std::vector<double>(const Calibration&)>;

/// Returns coefficients of these names with which residuals are least in the mean square. The method is
/// Gauss-Newton steps in the logarithms of the coefficients, each held to its value in `start` by a prior
/// (Levenberg's damping), so that coefficients on which no measurement depends stay. bench/fit.py does the
/// same with numpy.
std::map<std::string, double> fit_coefficients(const Calibration& start,
                                               const std::vector<std::string>& names,
                                               const Residuals& residuals);

}  // namespace spsolve
