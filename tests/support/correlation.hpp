// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/stencil.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {

/// Holds the correlation at a point in double, the sum of the magnitudes of its products, and the source (or
/// 0).
struct Correlation {
  double value, products, source;
};

Correlation correlation(const Stencil& stencil, const Field& in, const Index3& p, const Field* source);

/// Checks that every point of `region` of `out` is the correlation, with an error of at most
/// bound(Correlation), and that other owned points equal those of `before`.
template <class Bound>
void expect_correlation(const Stencil& stencil, const Field& in, const Field* source, const Field& before,
                        const Field& out, const Box& region, Bound&& bound) {
  int wrong = 0;
  for_each_point(out.owned(), [&](const Index3& p) {
    const bool inside = contains(region, p);
    const Correlation exact =
        inside ? correlation(stencil, in, p, source) : Correlation{value_at(before, p), 0, 0};
    const double found = value_at(out, p), most = inside ? bound(exact) : 0.0;
    if (!(std::abs(found - exact.value) <= most) && wrong++ < 5)
      ADD_FAILURE() << found << " instead of " << exact.value << " +- " << most << " at " << p[0] << " "
                    << p[1] << " " << p[2] << (inside ? "" : ", outside of the region");
  });
  EXPECT_EQ(wrong, 0);
}

/// Returns the error of every point due to the grid of first terms of weights, for data of at most 1.
double grid_error(const Stencil& stencil, Precision precision);

/// Returns the L2 error of `out` divided by that of plain fp32 arithmetic, one fused multiply-add per tap.
double error_over_plain_fp32(const Stencil& stencil, const Field& in, const Field& out);

/// Returns a sum of `rank` products of a random factor along each of the last axes.
Stencil random_sum_of_products(std::mt19937_64& random, std::uniform_real_distribution<double> value,
                               int dimensions, std::int64_t radius, int rank);

}  // namespace spsolve::testing
