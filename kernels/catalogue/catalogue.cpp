// SPDX-License-Identifier: Apache-2.0
#include "kernels/catalogue/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace spsolve {

std::complex<double> exponent(const std::vector<Derivative>& equation, const std::array<double, 3>& theta) {
  std::complex<double> sum = 0.0;
  for (const Derivative& term : equation) {
    std::complex<double> product = term.coefficient;
    for (int axis = 0; axis < axis_count; ++axis)
      for (int k = 0; k < term.powers[axis]; ++k) product *= std::complex(0.0, theta[axis]);
    sum += product;
  }
  return sum;
}

std::string equation_text(const CatalogueEntry& entry) {
  if (entry.equation.empty()) return "a filter";
  std::ostringstream text;
  text << (entry.role == Role::step ? "du/dt =" : "u' =");
  const auto power = [](std::int64_t n) { return n > 1 ? std::to_string(n) : ""; };
  for (const Derivative& term : entry.equation) {
    if (&term == &entry.equation.front())
      text << ' ' << term.coefficient;
    else
      text << (term.coefficient < 0 ? " - " : " + ") << std::abs(term.coefficient);
    const std::int64_t order = std::accumulate(term.powers.begin(), term.powers.end(), std::int64_t{0});
    text << (order ? " d" + power(order) + "u/" : " u");
    for (int axis = x_axis; axis >= z_axis; --axis)
      if (term.powers[axis] > 0) text << 'd' << "zyx"[axis] << power(term.powers[axis]);
  }
  return text.str();
}

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = [] {
    std::vector<CatalogueEntry> all;
    for (const auto& part : {transport_entries(), physics_entries(), signal_entries()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return entries;
}

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  const auto found = std::find_if(catalogue().begin(), catalogue().end(),
                                  [&](const CatalogueEntry& entry) { return entry.name == name; });
  return found == catalogue().end() ? nullptr : &*found;
}

CatalogueEntry time_step(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, std::vector<Derivative> equation, int error_power) {
  return {std::move(name),   std::move(domain),   dimensions, std::move(source),
          weights.stencil(), std::move(equation), error_power};
}

CatalogueEntry derivative(std::string name, std::string domain, int dimensions, std::string source,
                          const Formula& weights, std::vector<Derivative> equation, int error_power) {
  CatalogueEntry entry = time_step(std::move(name), std::move(domain), dimensions, std::move(source), weights,
                                   std::move(equation), error_power);
  entry.role = Role::derivative;
  return entry;
}

CatalogueEntry smoothing(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, int error_power) {
  return time_step(std::move(name), std::move(domain), dimensions, std::move(source), weights, {},
                   error_power);
}

CatalogueEntry finite_difference(std::string name, std::string domain, int dimensions, std::string source,
                                 std::vector<Derivative> equation, int space_order, int time_order) {
  Formula rate;
  double constant = 0.0;
  std::int64_t min_power = 99, error_power = 99;
  for (const Derivative& term : equation) {
    const std::int64_t power = term.powers[0] + term.powers[1] + term.powers[2];
    if (power == 0) {
      constant += term.coefficient;
      continue;
    }
    Formula product = term.coefficient;
    for (int axis = 0; axis < axis_count; ++axis)
      product = product * central(axis, static_cast<int>(term.powers[axis]), space_order);
    rate += product;
    min_power = std::min(min_power, power);
    error_power = std::min(error_power, power + space_order);
  }
  error_power = std::min(error_power, min_power * (time_order + 1));
  return time_step(std::move(name), std::move(domain), dimensions, std::move(source),
                   std::exp(constant) * runge_kutta(rate, time_order), std::move(equation),
                   static_cast<int>(error_power));
}

std::vector<Derivative> transport_equation(const std::array<double, 3>& v, const std::array<double, 3>& D,
                                           double rate) {
  std::vector<Derivative> equation;
  if (rate != 0.0) equation.push_back({-rate, {}});
  for (int axis = 0; axis < axis_count; ++axis) {
    Index3 powers{};
    powers[axis] = 1;
    if (v[axis] != 0.0) equation.push_back({-v[axis], powers});
    if (D[axis] != 0.0) equation.push_back({D[axis], 2 * powers});
  }
  return equation;
}

Formula laplacian(int dimensions, int order) {
  Formula sum;
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) sum += central(axis, 2, order);
  return sum;
}

std::vector<Derivative> laplace_polynomial(int dimensions, std::initializer_list<double> coefficients) {
  const auto factorial = [](std::int64_t n) { return std::round(std::tgamma(static_cast<double>(n + 1))); };
  std::vector<Derivative> equation;
  std::int64_t power = 0;
  for (const double coefficient : coefficients) {
    for (std::int64_t z = dimensions > 2 ? power : 0; z >= 0; --z)
      for (std::int64_t y = dimensions > 1 ? power - z : 0; y >= 0; --y) {
        const std::int64_t x = power - z - y;
        const double times = factorial(power) / (factorial(z) * factorial(y) * factorial(x));
        if (coefficient != 0.0) equation.push_back({times * coefficient, {2 * z, 2 * y, 2 * x}});
      }
    ++power;
  }
  return equation;
}

std::vector<Derivative> laplace_equation(int dimensions, double coefficient) {
  return laplace_polynomial(dimensions, {0, coefficient});
}

}  // namespace spsolve
