// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix/eigenvalues.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace spsolve {

namespace {

/// Returns the eigenvalues, which are the diagonal of the triangular Schur form; nothing if its iteration
/// does not converge.
std::optional<Eigen::VectorXcd> solved(const Eigen::MatrixXcd& matrix) {
  const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(matrix, false);
  if (schur.info() != Eigen::Success) return {};
  return schur.matrixT().diagonal();
}

/// Returns a similar matrix, by a Householder reflection on both sides. Its entries mix all entries of the
/// given one, so that none underflows.
Eigen::MatrixXcd reflected(const Eigen::MatrixXcd& matrix) {
  Eigen::VectorXcd normal(matrix.rows());
  for (Eigen::Index i = 0; i < normal.size(); ++i) normal[i] = std::polar(1.0, static_cast<double>(i * i));
  normal.normalize();
  const Eigen::MatrixXcd left = matrix - 2.0 * normal * (normal.adjoint() * matrix);
  return left - 2.0 * (left * normal) * normal.adjoint();
}

}  // namespace

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXcd& matrix) {
  // Eigen 3.4 finds wrong eigenvalues where products of weak couplings along a chain of fields underflow.
  // Their sum then differs from the trace.
  const auto found = solved(matrix);
  constexpr double rounding = 1e-9;  // far above what rounding loses: some 64^2 * 2^-53
  if (found && std::abs(found->sum() - matrix.trace()) <= rounding * matrix.cwiseAbs().sum()) return *found;
  if (auto of_reflected = solved(reflected(matrix))) return *std::move(of_reflected);
  throw std::runtime_error("the eigenvalues of a matrix are not found: the iteration does not converge");
}

}  // namespace spsolve
