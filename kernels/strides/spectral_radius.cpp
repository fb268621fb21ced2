// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/spectral_radius.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <set>

#include "kernels/matrix/eigenvalues.hpp"
#include "kernels/matrix/singular_values.hpp"
#include "kernels/wall_growth.hpp"

namespace spsolve {

namespace {

using Complex = std::complex<double>;
using SymbolMatrix = Eigen::MatrixXcd;

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
void balance(SymbolMatrix& matrix) {
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
bool is_defective(const SymbolMatrix& symbol, const Cluster& cluster) {
  if (cluster.count < 2) return false;
  const SymbolMatrix rest = symbol - cluster.mean * SymbolMatrix::Identity(symbol.rows(), symbol.cols());
  const Eigen::VectorXd singular = singular_values(rest);
  const double zero = same_eigenvalue * std::max(1.0, symbol.norm());
  return std::ranges::count_if(singular, [=](double value) { return value <= zero; }) < cluster.count;
}

/// Returns true if `has(stencil)` is true for an entry of a step that is not zero.
template <class Has>
bool any_stencil(const StencilMatrix& step, const Has& has) {
  for (int row = 0; row < step.size(); ++row)
    for (int column = 0; column < step.size(); ++column)
      if (const auto stencil = step.at(row, column).stencil(); stencil && has(*stencil)) return true;
  return false;
}

bool is_even(const StencilMatrix& step, int axis) {
  return !any_stencil(step, [&](const Stencil& stencil) { return !is_even(stencil, axis); });
}

/// Returns true if a step reads farther along an axis than its n points.
bool reads_past(const StencilMatrix& step, int axis, std::int64_t n) {
  return any_stencil(step, [&](const Stencil& stencil) { return stencil.radius()[axis] > n; });
}

/// Adds the waves that an axis of a field holds between its walls. A filled face may act like a face of any
/// kind.
void add_waves_between(const std::array<Face, 2>& faces, std::int64_t n, std::set<double>& waves) {
  for (const Side side : {low, high}) {
    if (faces[side].kind != BoundaryKind::filled) continue;
    for (const BoundaryKind kind : {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::value}) {
      std::array<Face, 2> such = faces;
      such[side].kind = kind;
      add_waves_between(such, n, waves);
    }
    return;
  }
  const AxisWaves of_axis = waves_between(faces, n);
  for (std::int64_t m = 0; m < of_axis.count; ++m) waves.insert(of_axis(m));
}

/// Returns up to `most` waves, evenly spread, the first and the last included.
std::vector<double> some_of(const std::vector<double>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<double> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

/// Returns fewer waves for large matrices, whose eigenvalues take time as the cube of their size: three along
/// each axis at least, the shortest wave, which grows first in diffusion, among them.
AxisWaveNumbers affordable(AxisWaveNumbers of_axes, int size) {
  constexpr double affordable_work = 1 << 22;  // waves * size^3; a fifth of a second
  double work = std::pow(size, 3);
  for (const auto& waves : of_axes) work *= static_cast<double>(waves.size());
  const auto axes = std::ranges::count_if(of_axes, [](const auto& waves) { return waves.size() > 1; });
  if (work <= affordable_work) return of_axes;
  const double share = std::pow(affordable_work / work, 1.0 / static_cast<double>(axes));
  for (auto& waves : of_axes) {
    const auto most = static_cast<std::size_t>(share * static_cast<double>(waves.size()));
    const double shortest =
        *std::ranges::min_element(waves, {}, [](double wave) { return std::abs(wave - std::numbers::pi); });
    waves = some_of(waves, std::max<std::size_t>(3, most));
    if (std::ranges::find(waves, shortest) == waves.end()) waves.push_back(shortest);
  }
  return of_axes;
}

Growth growth_over(const StencilMatrix& step, const AxisWaveNumbers& all_waves) {
  const int size = step.size();
  const AxisWaveNumbers of_axes = affordable(all_waves, size);
  const auto waves = combinations_of(of_axes);
  std::vector<std::vector<Complex>> symbols(static_cast<std::size_t>(size) * size);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column)
      if (const auto stencil = step.at(row, column).stencil())
        symbols[static_cast<std::size_t>(row) * size + column] = symbols_at(*stencil, of_axes);

  Growth growth;
  SymbolMatrix symbol(size, size);
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
    const bool constant = waves[i] == std::array<double, 3>{};
    for (const Cluster& cluster : clusters_of(eigenvalues(symbol))) {
      const double magnitude = std::abs(cluster.mean);
      if (magnitude > growth.spectral_radius) growth.spectral_radius = magnitude, growth.wave = waves[i];
      if (!growth.defective && !constant && std::abs(magnitude - 1.0) <= same_eigenvalue &&
          is_defective(symbol, cluster))
        growth.defective = true, growth.defective_wave = waves[i];
    }
  }
  return growth;
}

}  // namespace

Growth growth_of(const StencilMatrix& step, const Index3& shape) {
  return growth_over(step, sampled_axes(shape));
}

Growth growth_of(const StencilMatrix& step, const std::vector<Domain>& domains) {
  const Domain& domain = domains.front();
  AxisWaveNumbers of_axes = sampled_axes(domain.shape);
  constexpr std::array<std::size_t, 4> waves_per_axis{1, 32768, 180, 32};  // as of a periodic grid
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    std::set<double> waves;
    bool between = is_even(step, axis);  // waves between walls are eigenvectors
    for (const Domain& of_field : domains) {
      const auto& faces = of_field.faces[axis];
      if (of_field.periodic(axis)) continue;
      add_waves_between(faces, domain.shape[axis], waves);
      between = between && (std::ranges::count(faces, BoundaryKind::value, &Face::kind) == 0 ||
                            !reads_past(step, axis, domain.shape[axis]));
    }
    if (waves.empty()) continue;
    if (!between) waves.insert(of_axes[axis].begin(), of_axes[axis].end());
    const std::size_t most = waves_per_axis[static_cast<std::size_t>(domain.dimensions)];
    of_axes[axis] = some_of({waves.begin(), waves.end()}, axis == x_axis ? most / 2 + 1 : most);
  }
  return growth_over(step, of_axes);
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
      case TermKind::number:
        terms.push_back(result.terms.number(term.number));
        break;
      case TermKind::coordinate:
        terms.push_back(result.terms.number(values.at[term.index]));
        break;
      case TermKind::coefficient:
        terms.push_back(result.terms.number(values.coefficients[term.index]));
        break;
      case TermKind::time:
        terms.push_back(result.terms.number(values.t));
        break;
      case TermKind::step:
        terms.push_back(result.terms.number(static_cast<double>(values.step)));
        break;
      case TermKind::field:
        terms.push_back(result.terms.field(term.index, term.level));
        break;
      case TermKind::operation:
        terms.push_back(result.terms.operation(term.operation, operands));
        break;
      case TermKind::displaced:
        terms.push_back(result.terms.displaced(operands[0], term.offset));
        break;
      case TermKind::weighted:
        terms.push_back(result.terms.weighted(operands[0], system.terms.weights(term.index)));
        break;
    }
  }
  for (Statement& statement : result.statements) statement.value = terms[statement.value];
  return result;
}

}  // namespace spsolve
