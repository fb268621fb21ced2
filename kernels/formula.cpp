// SPDX-License-Identifier: Apache-2.0
#include "kernels/formula.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spsolve {

Formula Formula::at(const Index3& offset) {
  Formula formula;
  formula.weights_[offset] = 1.0;
  return formula;
}

Formula& Formula::operator+=(const Formula& other) {
  for (const auto& [offset, weight] : other.weights_) weights_[offset] += weight;
  return *this;
}

Formula operator*(const Formula& a, const Formula& b) {
  Formula product;
  for (const auto& [at_a, weight_a] : a.weights_)
    for (const auto& [at_b, weight_b] : b.weights_)
      if (weight_a != 0.0 && weight_b != 0.0) product.weights_[at_a + at_b] += weight_a * weight_b;
  return product;
}

double Formula::magnitude() const {
  double sum = 0.0;
  for (const auto& [offset, weight] : weights_) sum += std::abs(weight);
  return sum;
}

Stencil Formula::stencil() const {
  // Sums of weights that cancel leave rounding errors of this share of the largest weight.
  constexpr double cancelled = 64 * std::numeric_limits<double>::epsilon();
  double largest = 0.0;
  for (const auto& [offset, weight] : weights_) largest = std::max(largest, std::abs(weight));
  Box box = box_of({1, 1, 1});
  for (const auto& [offset, weight] : weights_) box = hull(box, offset);
  std::vector<double> weights;
  for_each_point(box, [&](const Index3& offset) {
    const auto found = weights_.find(offset);
    const bool kept = found != weights_.end() && std::abs(found->second) > cancelled * largest;
    weights.push_back(kept ? found->second : 0.0);
  });
  return Stencil(box.extent(), weights, -1 * box.begin);
}

Formula difference(int axis, int derivative, int first, int last, double place) {
  // Fornberg's recursion: delta[nu][k] is the weight of point nu in the k-th derivative through the points
  // visited so far.
  const int count = last - first + 1;
  std::vector<std::vector<double>> delta(count, std::vector<double>(derivative + 1, 0.0));
  delta[0][0] = 1.0;
  double c1 = 1.0;
  for (int n = 1; n < count; ++n) {
    const double here = first + n - place, before = first + n - 1 - place;
    double c2 = 1.0;
    for (int nu = 0; nu < n; ++nu) {
      const double c3 = n - nu;
      c2 *= c3;
      const std::vector<double> old = delta[nu];
      if (nu == n - 1)
        for (int k = 0; k <= derivative; ++k)
          delta[n][k] = c1 / c2 * ((k > 0 ? k * old[k - 1] : 0.0) - before * old[k]);
      for (int k = 0; k <= derivative; ++k)
        delta[nu][k] = (here * old[k] - (k > 0 ? k * old[k - 1] : 0.0)) / c3;
    }
    c1 = c2;
  }
  std::vector<double> weights;
  for (const auto& row : delta) weights.push_back(row[derivative]);
  return line(axis, first, weights);
}

Formula central(int axis, int derivative, int order) {
  if (derivative == 0) return 1.0;
  const int radius = (derivative + 1) / 2 - 1 + order / 2;
  return difference(axis, derivative, -radius, radius);
}

Formula line(int axis, int first, const std::vector<double>& weights) {
  Formula sum;
  Index3 offset{};
  offset[axis] = first;
  for (const double weight : weights) {
    sum += weight * Formula::at(offset);
    ++offset[axis];
  }
  return sum;
}

Formula symmetric(int axis, const std::vector<double>& weights, bool odd) {
  const int radius = static_cast<int>(weights.size()) - 1;
  std::vector<double> both;
  for (int k = -radius; k <= radius; ++k) both.push_back((odd && k < 0 ? -1.0 : 1.0) * weights[std::abs(k)]);
  return line(axis, -radius, both);
}

Formula gaussian(int axis, double sigma, int radius) {
  std::vector<double> half;
  double sum = 0.0;
  for (int k = 0; k <= radius; ++k) {
    half.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
    sum += (k ? 2.0 : 1.0) * half.back();
  }
  return 1.0 / sum * symmetric(axis, half);
}

Formula runge_kutta(const Formula& rate, int order) {
  Formula sum = 1.0;
  for (int j = order; j > 0; --j) sum = 1.0 + 1.0 / j * rate * sum;
  return sum;
}

}  // namespace spsolve
