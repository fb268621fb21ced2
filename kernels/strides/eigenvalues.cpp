// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/eigenvalues.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace spsolve {

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& matrix) {
  return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(matrix, false).eigenvalues();
}

Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXcd>(matrix).singularValues();
}

}  // namespace spsolve
