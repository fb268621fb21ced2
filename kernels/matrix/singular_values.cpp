// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix/singular_values.hpp"

#include <Eigen/SVD>

namespace spsolve {

Eigen::VectorXd singular_values(const Eigen::MatrixXcd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXcd, Eigen::NoQRPreconditioner>(matrix).singularValues();
}

Eigen::MatrixXd left_singular_vectors(const Eigen::MatrixXd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix, Eigen::ComputeThinU).matrixU();
}

SingularVectors singular_vectors(const Eigen::MatrixXd& matrix) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace spsolve
