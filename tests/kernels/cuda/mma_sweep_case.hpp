// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cases of sweeps on tensor cores, and what their results must be.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "kernels/cuda/mma_program.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::cuda {

using testing::random_field;
using testing::value_at;

/// Relative error of one product of weight and stored number, weights already rounded.
inline double product_error(Precision precision, std::size_t taps) {
  switch (precision) {
    case Precision::fp32:
      return takes_mixed_split(taps) ? mixed_split_product_error() : split_product_error(Precision::bf16, 3);
    case Precision::tf32:
      return unit_roundoff(Precision::tf32);  // the datum is rounded
    default:
      return 0;
  }
}

struct SweepCase {
  int dimensions, radius;
  enum Kind { star, box, scattered, lopsided } kind;
  Precision precision;
  Layout layout;
  TensorCores cores;
};

inline Stencil make_stencil(const SweepCase& c, std::mt19937_64& random) {
  Index3 extent{1, 1, 1}, center{};
  for (int axis = axis_count - c.dimensions; axis < axis_count; ++axis) {
    extent[axis] = 2 * c.radius + 1;
    center[axis] = c.radius;
    if (c.kind == SweepCase::lopsided) {
      extent[axis] = std::uniform_int_distribution<std::int64_t>(1, 2 * c.radius + 1)(random);
      center[axis] = std::uniform_int_distribution<std::int64_t>(0, extent[axis] - 1)(random);
    }
  }
  std::vector<double> weights;
  for_each_point(box_of(extent), [&](const Index3& p) {
    int off = 0;
    for (int axis = 0; axis < axis_count; ++axis) off += p[axis] != center[axis];
    const bool used = c.kind == SweepCase::star        ? off <= 1
                      : c.kind == SweepCase::scattered ? off == 0 || random() % 3 == 0
                                                       : true;
    weights.push_back(used ? std::uniform_real_distribution<double>(-1.0, 1.0)(random) : 0.0);
  });
  return {extent, weights, center};
}

/// Every point of the region against the correlation in double with the rounded weights; others untouched.
inline void expect_correlation(const Stencil& stencil, const SweepCase& c, const Field& in,
                               const Field& before, const Field& out, const Field* source,
                               const Box& region) {
  const Stencil rounded = round_weights(stencil, c.precision);
  const double products =
      static_cast<double>(rounded.taps().size()) * (c.precision == Precision::fp32 ? 6 : 1);
  // Tensor cores cut off instead of rounding and may keep no bit beyond fp32: twice the unit roundoff.
  const double u = c.precision == Precision::fp64 ? 0x1p-53 : 0x1p-23;
  const double sums = (products + 1) * u / (1 - (products + 1) * u);
  const double stored = unit_roundoff(c.precision == Precision::tf32 ? Precision::fp32 : c.precision);
  const double smallest = c.precision == Precision::fp16 ? 0x1p-25 : 0;  // subnormal results
  const double product_off = product_error(c.precision, rounded.taps().size());
  int wrong = 0;
  for_each_point(out.owned(), [&](const Index3& p) {
    if (!contains(region, {p, p + Index3{1, 1, 1}})) {
      if (value_at(out, p) != value_at(before, p) && wrong++ < 5)
        ADD_FAILURE() << "written outside of the region at " << p[0] << " " << p[1] << " " << p[2];
      return;
    }
    double exact = source ? value_at(*source, p) : 0.0, magnitude = std::abs(exact);
    for (const spsolve::Tap& tap : rounded.taps()) {
      const double product = tap.weight * value_at(in, p + tap.offset);
      exact += product;
      magnitude += std::abs(product);
    }
    const double bound = (product_off + sums * (1 + product_off)) * magnitude * (1 + stored) +
                         stored * std::abs(exact) + smallest;
    const double found = value_at(out, p);
    if (!(std::abs(found - exact) <= bound) && wrong++ < 5)
      ADD_FAILURE() << found << " instead of " << exact << " +- " << bound << " at " << p[0] << " " << p[1]
                    << " " << p[2];
  });
  EXPECT_EQ(wrong, 0);
}

inline Domain domain_of(int dimensions) {
  Domain domain;
  domain.dimensions = dimensions;
  return domain;
}

inline std::string name_of(const SweepCase& c) {
  constexpr const char* kinds[]{"star", "box", "scattered", "lopsided"};
  return kinds[c.kind] + std::to_string(c.dimensions) + "d" + std::to_string(c.radius) + "r_" +
         std::string(to_string(c.precision)) + (c.layout == Layout::morph ? "_morph" : "_swap") +
         (c.cores == TensorCores::sparse ? "_sparse" : "_dense");
}

// Words of cases.
constexpr auto sparse = TensorCores::sparse, dense = TensorCores::dense;
constexpr auto morph = Layout::morph, swap = Layout::strided_swap;
constexpr auto star = SweepCase::star, box = SweepCase::box, scattered = SweepCase::scattered,
               lopsided = SweepCase::lopsided;
constexpr auto fp16 = Precision::fp16, bf16 = Precision::bf16, tf32 = Precision::tf32, fp32 = Precision::fp32,
               fp64 = Precision::fp64;

}  // namespace spsolve::cuda
