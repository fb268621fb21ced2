// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace spsolve {

// Only eigenvalues.cpp includes the templates that compute these, which take ten seconds to compile.

/// Returns the eigenvalues of a square matrix of finite numbers, in no order.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& matrix);

/// Returns the singular values of a matrix, the largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix);

}  // namespace spsolve
