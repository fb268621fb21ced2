// SPDX-License-Identifier: Apache-2.0
#include "app/bench/fit.hpp"

#include <algorithm>
#include <cmath>

namespace spsolve {
namespace {

constexpr double spread = 0.1;        // how far measurements lie from the model, in logarithms
constexpr double prior_spread = 0.3;  // how far coefficients lie from their start, in logarithms
constexpr double nudge = 0.01;        // the change of a logarithm by which derivatives are taken
constexpr double longest_step = 0.3;
constexpr int max_iterations = 6;

/// Solves a x = b in place for symmetric positive a, by elimination.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

}  // namespace

std::map<std::string, double> fit_coefficients(const Calibration& start,
                                               const std::vector<std::string>& names,
                                               const Residuals& residuals) {
  std::vector<const Coefficient*> fitted;
  for (const Coefficient& coefficient : coefficients())
    if (std::ranges::find(names, coefficient.name) != names.end()) fitted.push_back(&coefficient);
  const std::size_t n = fitted.size();
  std::vector<double> moved(n, 0.0);  // logarithms, from the start
  const auto at = [&](const std::vector<double>& logs) {
    Calibration calibration = start;
    for (std::size_t i = 0; i < n; ++i) fitted[i]->in(calibration) *= std::exp(logs[i]);
    return calibration;
  };
  for (int step = 0; step < max_iterations; ++step) {
    const std::vector<double> here = residuals(at(moved));
    std::vector<std::vector<double>> slopes(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> nudged = moved;
      nudged[i] += nudge;
      slopes[i] = residuals(at(nudged));
      for (std::size_t row = 0; row < here.size(); ++row)
        slopes[i][row] = (slopes[i][row] - here[row]) / nudge;
    }
    std::vector<std::vector<double>> a(n, std::vector<double>(n, 0.0));
    std::vector<double> b(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t row = 0; row < here.size(); ++row)
          a[i][j] += slopes[i][row] * slopes[j][row] / (spread * spread);
      for (std::size_t row = 0; row < here.size(); ++row)
        b[i] -= slopes[i][row] * here[row] / (spread * spread);
      a[i][i] += 1 / (prior_spread * prior_spread);
      b[i] -= moved[i] / (prior_spread * prior_spread);
    }
    const std::vector<double> by = solve(a, b);
    for (std::size_t i = 0; i < n; ++i) moved[i] += std::clamp(by[i], -longest_step, longest_step);
  }
  std::map<std::string, double> values;
  Calibration found = at(moved);
  for (const Coefficient* coefficient : fitted) values[coefficient->name] = coefficient->in(found);
  return values;
}

}  // namespace spsolve
