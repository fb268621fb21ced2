// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/spectral_radius.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>

namespace spsolve {

namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;

// Rounding perturbs a double eigenvalue by about sqrt(2^-52).
constexpr double same_eigenvalue = 3e-7;

/// Holds the number of eigenvalues that agree, and their mean.
struct Cluster {
  Complex mean;
  int count;
};

std::vector<Cluster> clusters_of(const Eigen::VectorXcd& eigenvalues) {
  std::vector<Cluster> clusters;
  std::vector<bool> taken(eigenvalues.size(), false);
  for (Eigen::Index i = 0; i < eigenvalues.size(); ++i) {
    if (taken[i]) continue;
    Cluster cluster{0.0, 0};
    const double tolerance = same_eigenvalue * std::max(1.0, std::abs(eigenvalues[i]));
    for (Eigen::Index j = i; j < eigenvalues.size(); ++j)
      if (!taken[j] && std::abs(eigenvalues[j] - eigenvalues[i]) <= tolerance) {
        taken[j] = true;
        cluster.mean += eigenvalues[j];
        ++cluster.count;
      }
    cluster.mean /= cluster.count;
    clusters.push_back(cluster);
  }
  return clusters;
}

/// Scales rows and columns by powers of two until both have about the same size. This keeps the eigenvalues.
/// Fields may have units that differ by many orders of magnitude (B. Parlett and C. Reinsch, Numer. Math. 13
/// (1969) 293).
void balance(Matrix& matrix) {
  constexpr double enough =
      0.95;  // a scaling must make the sum of a row and its column smaller by at least this factor
  for (bool changed = true; changed;) {
    changed = false;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      const double diagonal = std::abs(matrix(i, i));
      const double row = matrix.row(i).cwiseAbs().sum() - diagonal;
      const double column = matrix.col(i).cwiseAbs().sum() - diagonal;
      if (!(row > 0 && column > 0)) continue;
      const double scale = std::exp2(std::round(std::log2(row / column) / 2));
      if (!(column * scale + row / scale < enough * (row + column))) continue;
      matrix.col(i) *= scale;
      matrix.row(i) /= scale;
      changed = true;
    }
  }
}

/// Returns true if an eigenvalue has fewer eigenvectors than its multiplicity.
bool is_defective(const Matrix& symbol, const Cluster& cluster) {
  if (cluster.count < 2) return false;
  const Matrix rest = symbol - cluster.mean * Matrix::Identity(symbol.rows(), symbol.cols());
  const Eigen::VectorXd singular = Eigen::JacobiSVD<Matrix>(rest).singularValues();
  const double zero = same_eigenvalue * std::max(1.0, symbol.norm());
  return std::count_if(singular.begin(), singular.end(), [=](double value) { return value <= zero; }) <
         cluster.count;
}

}  // namespace

Growth growth_of(const StencilMatrix& step, const Index3& shape) {
  const int size = step.size();
  const auto waves = sampled_waves(shape);
  std::vector<std::vector<Complex>> symbols(static_cast<std::size_t>(size) * size);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      if (const auto stencil = step.at(row, column).stencil())
        symbols[static_cast<std::size_t>(row) * size + column] = sampled_symbol(*stencil, shape);

  Growth growth;
  Matrix symbol(size, size);
  Eigen::ComplexEigenSolver<Matrix> solver(size);
  for (std::size_t i = 0; i < waves.size(); ++i) {
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column) {
        const auto& entries = symbols[static_cast<std::size_t>(row) * size + column];
        symbol(row, column) = entries.empty() ? Complex() : entries[i];
      }
    if (!symbol.allFinite()) {
      growth.spectral_radius = std::numeric_limits<double>::infinity();
      growth.wave = waves[i];
      return growth;
    }
    balance(symbol);
    solver.compute(symbol, false);
    const bool constant = waves[i] == std::array<double, 3>{};
    for (const Cluster& cluster : clusters_of(solver.eigenvalues())) {
      const double magnitude = std::abs(cluster.mean);
      if (magnitude > growth.spectral_radius) growth.spectral_radius = magnitude, growth.wave = waves[i];
      if (!growth.defective && !constant && std::abs(magnitude - 1.0) <= same_eigenvalue &&
          is_defective(symbol, cluster))
        growth.defective = true, growth.defective_wave = waves[i];
    }
  }
  return growth;
}

System frozen(const System& system, const FrozenValues& values) {
  System result = system;
  result.terms = {};
  std::vector<TermId> terms;
  for (TermId id = 0; id < system.terms.size(); ++id) {
    const Term& term = system.terms[id];
    std::vector<TermId> operands;
    for (const TermId operand : term.operands) operands.push_back(terms[operand]);
    switch (term.kind) {
      case Term::Kind::number:
        terms.push_back(result.terms.number(term.number));
        break;
      case Term::Kind::coordinate:
        terms.push_back(result.terms.number(values.at[term.index]));
        break;
      case Term::Kind::coefficient:
        terms.push_back(result.terms.number(values.coefficients[term.index]));
        break;
      case Term::Kind::time:
        terms.push_back(result.terms.number(values.t));
        break;
      case Term::Kind::step:
        terms.push_back(result.terms.number(static_cast<double>(values.step)));
        break;
      case Term::Kind::field:
        terms.push_back(result.terms.field(term.index, term.level));
        break;
      case Term::Kind::operation:
        terms.push_back(result.terms.operation(term.operation, operands));
        break;
      case Term::Kind::displaced:
        terms.push_back(result.terms.displaced(operands[0], term.offset));
        break;
      case Term::Kind::weighted:
        terms.push_back(result.terms.weighted(operands[0], system.terms.weights(term.index)));
        break;
    }
  }
  for (Statement& statement : result.statements) statement.value = terms[statement.value];
  return result;
}

}  // namespace spsolve
