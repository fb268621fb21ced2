// SPDX-License-Identifier: Apache-2.0
#include "tests/support/correlation.hpp"

#include <array>
#include <cmath>

#include "kernels/sparse/split.hpp"

namespace spsolve::testing {

Correlation correlation(const Stencil& stencil, const Field& in, const Index3& p, const Field* source) {
  const double added = source ? value_at(*source, p) : 0.0;
  Correlation exact{added, 0.0, added};
  for (const Tap& tap : stencil.taps()) {
    const double product = tap.weight * value_at(in, p + tap.offset);
    exact.value += product;
    exact.products += std::abs(product);
  }
  return exact;
}

double grid_error(const Stencil& stencil, Precision precision) {
  const auto [element, terms] = operand_terms(precision);
  if (terms == 1) return 0.0;
  return static_cast<double>(stencil.taps().size()) *
         grid_product_error(element, leading_grid(sum_abs(stencil)));
}

double error_over_plain_fp32(const Stencil& stencil, const Field& in, const Field& out) {
  double errors = 0, plain_errors = 0;
  for_each_point(out.owned(), [&](const Index3& p) {
    float plain = 0;
    for (const Tap& tap : stencil.taps())
      plain = std::fma(static_cast<float>(tap.weight), *in.at<float>(p + tap.offset), plain);
    const double exact = correlation(stencil, in, p, nullptr).value;
    errors += std::pow(value_at(out, p) - exact, 2);
    plain_errors += std::pow(static_cast<double>(plain) - exact, 2);
  });
  return std::sqrt(errors / plain_errors);
}

Stencil random_sum_of_products(std::mt19937_64& random, std::uniform_real_distribution<double> value,
                               int dimensions, std::int64_t radius, int rank) {
  Index3 reach{};
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) reach[axis] = radius;
  const Index3 extent = 2 * reach + Index3{1, 1, 1};
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)), 0.0);
  for (int term = 0; term < rank; ++term) {
    std::array<std::vector<double>, axis_count> factor;
    for (int axis = 0; axis < axis_count; ++axis)
      for (std::int64_t i = 0; i < extent[axis]; ++i)
        factor[axis].push_back(reach[axis] ? value(random) : 1.0);
    for_each_point(box_of(extent), [&](const Index3& p) {
      weights[static_cast<std::size_t>(index_of(p, extent))] +=
          factor[0][p[0]] * factor[1][p[1]] * factor[2][p[2]];
    });
  }
  return Stencil(extent, weights, reach);
}

}  // namespace spsolve::testing
