// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace spsolve {

// The templates that compute eigenvalues take seconds to compile, so only eigenvalues.cpp includes them.

/// Returns the eigenvalues of a square matrix of finite numbers, in no order. Throws std::runtime_error if
/// they are not found.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& matrix);

}  // namespace spsolve
