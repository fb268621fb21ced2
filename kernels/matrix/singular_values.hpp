// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace spsolve {

// The templates that compute singular values take seconds to compile, so only singular_values.cpp includes
// them.

/// Returns the singular values of a square matrix, the largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix);

/// Holds the decomposition of a matrix as left * diag(values) * right^T. Columns of `left` and `right` are
/// unit vectors; values are in descending order, min(rows, columns) of them.
struct SingularVectors {
  Eigen::MatrixXd left;
  Eigen::VectorXd values;
  Eigen::MatrixXd right;
};

/// Returns SingularVectors::left of a matrix.
Eigen::MatrixXd left_singular_vectors(const Eigen::MatrixXd& matrix);
/// Decomposes a matrix.
SingularVectors singular_vectors(const Eigen::MatrixXd& matrix);

}  // namespace spsolve
