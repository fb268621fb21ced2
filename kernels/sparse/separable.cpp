// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/separable.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/matrix/singular_values.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {
namespace {

using Matrix = Eigen::MatrixXd;

/// Holds a rank-one term as unit vectors and its norm.
struct UnitTerm {
  double norm;
  SeparableTerm unit;
};

std::vector<double> to_vector(const Eigen::VectorXd& v) { return {v.data(), v.data() + v.size()}; }

/// Decomposes the weights into rank-one terms. First `axis` is separated from the other two axes by singular
/// vectors or, with `planes`, into its planes. Each right vector is a matrix over the other two axes, which
/// singular vectors then decompose.
std::vector<UnitTerm> decompose(const std::vector<double>& weights, const Index3& extent, int axis,
                                bool planes) {
  const int rows = axis == z_axis ? y_axis : z_axis, columns = axis == x_axis ? y_axis : x_axis;
  Matrix unfolded(extent[axis], extent[rows] * extent[columns]);
  for (const Index3& p : points_of(box_of(extent)))
    unfolded(p[axis], p[rows] * extent[columns] + p[columns]) = weights[index_of(p, extent)];

  Matrix left = Matrix::Identity(extent[axis], extent[axis]), right = unfolded;  // left * right = unfolded
  if (!planes) {
    const SingularVectors found = singular_vectors(unfolded);
    left = found.left;
    right = found.values.asDiagonal() * found.right.transpose();
  }
  std::vector<UnitTerm> terms;
  for (Eigen::Index outer = 0; outer < right.rows(); ++outer) {
    const Eigen::RowVectorXd flat = right.row(outer);
    const Matrix plane =
        Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            flat.data(), extent[rows], extent[columns]);
    const SingularVectors found = singular_vectors(plane);
    for (Eigen::Index inner = 0; inner < found.values.size(); ++inner) {
      UnitTerm term{found.values[inner], {}};
      term.unit.factor[axis] = to_vector(left.col(outer));
      term.unit.factor[rows] = to_vector(found.left.col(inner));
      term.unit.factor[columns] = to_vector(found.right.col(inner));
      terms.push_back(std::move(term));
    }
  }
  std::ranges::stable_sort(terms, std::greater{}, &UnitTerm::norm);
  return terms;
}

/// Decomposes a volume with orthonormal bases along z and x (Tucker 1966), so that terms share factors along
/// both axes. Each pair of base vectors has one factor along y.
std::vector<UnitTerm> decompose_with_bases(const std::vector<double>& weights, const Index3& extent) {
  Matrix along_z(extent[0], extent[1] * extent[2]), along_x(extent[2], extent[0] * extent[1]);
  for (const Index3& p : points_of(box_of(extent))) {
    along_z(p[0], p[1] * extent[2] + p[2]) = weights[index_of(p, extent)];
    along_x(p[2], p[0] * extent[1] + p[1]) = weights[index_of(p, extent)];
  }
  const Matrix z = left_singular_vectors(along_z), x = left_singular_vectors(along_x);
  const Matrix by_z = z.transpose() * along_z;  // [base vector of z][y, x]
  std::vector<UnitTerm> terms;
  for (Eigen::Index k = 0; k < z.cols(); ++k) {
    const Eigen::RowVectorXd flat = by_z.row(k);
    const Matrix by_both =
        Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            flat.data(), extent[1], extent[2]) *
        x;
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      const Eigen::VectorXd y = by_both.col(j);
      const double norm = y.norm();
      if (norm > 0)
        terms.push_back({norm, {{to_vector(z.col(k)), to_vector(y / norm), to_vector(x.col(j))}}});
    }
  }
  std::ranges::stable_sort(terms, std::greater{}, &UnitTerm::norm);
  return terms;
}

double term_weight(const SeparableTerm& term, const Index3& p) {
  return term.factor[0][p[0]] * term.factor[1][p[1]] * term.factor[2][p[2]];
}

/// Multiplies a term of unit vectors by its norm, shared evenly by the axes with an extent above 1. No pass
/// runs along the other axes, so their factor (1 or -1) goes to the longest axis.
void scale_factors(SeparableTerm& term, double norm, const Index3& extent) {
  const auto longest = std::ranges::max_element(extent) - extent.begin();
  const auto passes =
      std::max<std::ptrdiff_t>(1, std::ranges::count_if(extent, [](auto n) { return n > 1; }));
  for (int axis = 0; axis < axis_count; ++axis) {
    double share = std::pow(norm, 1.0 / static_cast<double>(passes));
    const bool pass = extent[axis] > 1 || axis == longest;
    if (!pass) share = std::exchange(term.factor[axis].front(), 1.0);
    for (double& value : term.factor[pass ? axis : longest]) value *= share;
  }
}

/// Keeps the first terms whose remainder is at most tolerance * sum |W|.
SeparableStencil keep_terms(const std::vector<UnitTerm>& terms, const std::vector<double>& weights,
                            const Box& taps, double tolerance) {
  const Index3 extent = taps.extent();
  const auto points = points_of(box_of(extent));
  const double total = sum_abs(weights);
  const double rounding =
      terms.front().norm * std::numeric_limits<double>::epsilon() * static_cast<double>(points.size());
  SeparableStencil separable{taps, {}, 1.0};
  std::vector<double> rest = weights;
  for (const auto& [norm, unit] : terms) {
    if (!separable.terms.empty() && (separable.dropped <= tolerance || norm <= rounding)) break;
    SeparableTerm term = unit;
    scale_factors(term, norm, extent);
    for (std::size_t at = 0; at < points.size(); ++at) rest[at] -= term_weight(term, points[at]);
    separable.terms.push_back(std::move(term));
    separable.dropped = sum_abs(rest) / total;
  }
  return separable;
}

}  // namespace

double sum_abs(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

SeparableStencil separate(const Stencil& stencil, double tolerance) {
  const Box taps = tap_box(stencil);
  const Index3 extent = taps.extent();
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)), 0.0);
  for (const Tap& tap : stencil.taps()) weights[index_of(tap.offset - taps.begin, extent)] = tap.weight;

  const bool flat = *std::ranges::min_element(extent) == 1;
  std::optional<SeparableStencil> best;
  for (const int axis : {z_axis, y_axis, x_axis}) {
    for (const bool planes : {false, true}) {
      // For a plane, all axes give the same singular vectors, and only one axis has a single plane.
      if (flat && (planes ? extent[axis] == 1 : axis != z_axis)) continue;
      auto other = keep_terms(decompose(weights, extent, axis, planes), weights, taps, tolerance);
      if (!best || other.terms.size() < best->terms.size()) best = std::move(other);
    }
  }
  if (!flat) {
    auto shared = keep_terms(decompose_with_bases(weights, extent), weights, taps, tolerance);
    if (shared.terms.size() <= best->terms.size()) best = std::move(shared);
  }
  return *best;
}

std::vector<double> dense_weights(const SeparableStencil& separable) {
  std::vector<double> weights;
  for (const Index3& p : points_of(box_of(separable.taps.extent()))) {
    double sum = 0;
    for (const SeparableTerm& term : separable.terms) sum += term_weight(term, p);
    weights.push_back(sum);
  }
  return weights;
}

Stencil axis_stencil(const SeparableStencil& separable, const SeparableTerm& term, int axis) {
  const std::int64_t begin = separable.taps.begin[axis], end = separable.taps.end[axis];
  const std::int64_t radius = std::max({-begin, end - 1, std::int64_t{0}});
  Index3 extent{1, 1, 1}, center{0, 0, 0};
  extent[axis] = 2 * radius + 1;
  center[axis] = radius;
  std::vector<double> weights(static_cast<std::size_t>(extent[axis]), 0.0);
  std::ranges::copy(term.factor[axis], weights.begin() + radius + begin);
  return Stencil(extent, weights, center);
}

}  // namespace spsolve
