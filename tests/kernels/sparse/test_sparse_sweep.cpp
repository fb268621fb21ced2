// SPDX-License-Identifier: Apache-2.0
//
// A whole sweep with an operand on emulated sparse tensor cores must be the dense correlation, within its
// error bound.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/sparse/chained_pass.hpp"
#include "kernels/sparse/dual_tessellation.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "kernels/sparse/emulation/sparse_sweep.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/separable.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sparse/strided_swap.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"
#include "tests/support/correlation.hpp"
#include "tests/support/fields.hpp"

namespace spsolve {
namespace {

using testing::random_field;
using testing::random_tile;
using testing::random_zoo_stencil;
using testing::row_width;
using testing::value_at;

/// Returns the relative error of one product of weight and stored number, before accumulation.
double product_error(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return split_product_error(Precision::bf16, 3);
    case Precision::tf32:
      return 2 * unit_roundoff(Precision::tf32) * (1 + 0x1p-9);  // both operands are rounded
    default:
      return unit_roundoff(precision);  // the weight is rounded
  }
}

/// Compares every point of the region with the correlation in double. Other points must be untouched.
void expect_correlation(const Operand& operand, const Stencil& stencil, std::mt19937_64& random,
                        Precision precision) {
  const Box owned{{-1, 5, -3}, {-1 + (stencil.radius()[0] ? 4 : 1), 5 + (stencil.radius()[1] ? 7 : 1), 20}};
  const Box region{owned.begin + Index3{0, 0, 1}, owned.end - Index3{0, 0, 2}};
  const Field in = random_field(random, owned, stencil.radius(), precision);
  const Field source = random_field(random, owned, {0, 0, 0}, Precision::fp32);
  const double untouched = 77;
  const auto blank = [&] {
    return testing::make_field(owned, stencil.radius(), precision, [&] { return untouched; });
  };
  Field out = blank();
  SparseSweep(operand, precision)(in, out, region, &source);
  const double products = static_cast<double>(stencil.taps().size()) * (precision == Precision::fp32 ? 6 : 1);
  const double sums = products * 0x1p-23 / (1 - products * 0x1p-23);  // gamma_n (Higham 2002, lemma 3.1)
  const double product = product_error(precision), grid = testing::grid_error(stencil, precision);
  const double stored = unit_roundoff(precision == Precision::tf32 ? Precision::fp32 : precision);
  const double smallest = precision == Precision::fp16 ? 0x1p-25 : 0;  // subnormal results
  testing::expect_correlation(
      stencil, in, &source, blank(), out, region, [&](const testing::Correlation& exact) {
        return ((product + sums * (1 + product)) * exact.products + grid) * (1 + stored) +
               stored * std::abs(exact.value) + smallest;
      });
}

class EverySweep : public ::testing::TestWithParam<int> {
 protected:
  std::mt19937_64 random{1000u + static_cast<std::uint64_t>(GetParam())};
  testing::ZooStencil zoo = random_zoo_stencil(random);
};

TEST_P(EverySweep, IsTheCorrelation) {
  constexpr std::array precisions{Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32};
  const Precision precision = precisions[GetParam() % 4];
  const Operand morphed = morph(zoo.stencil, random_tile(random, zoo.stencil, false), Pairing::columns);
  expect_correlation(morphed, zoo.stencil, random, precision);
  const Operand swapped =
      strided_swap(zoo.stencil, min_swap_length(row_width(zoo.stencil)), x_axis, 1 + GetParam() % 3);
  expect_correlation(swapped, zoo.stencil, random, precision);
  if (precision == Precision::tf32) return;
  const Operand paired = morph(zoo.stencil, random_tile(random, zoo.stencil, true), Pairing::x_pairs);
  expect_correlation(paired, zoo.stencil, random, precision);
}

INSTANTIATE_TEST_SUITE_P(Zoo, EverySweep, ::testing::Range(0, 200), [](const auto& which) {
  std::mt19937_64 random(1000u + static_cast<std::uint64_t>(which.param));
  return std::to_string(which.param) + "_" + random_zoo_stencil(random).name;
});

TEST(SparseSweep, HasTheSameBitsWhateverTheRegion) {
  std::mt19937_64 random(17);
  const Stencil stencil({3, 3, 5}, std::vector<double>(45, 1.0 / 45), {1, 1, 2});
  const Box owned{{0, 0, 0}, {5, 11, 37}};
  for (const Precision precision : {Precision::fp16, Precision::fp32}) {
    const Field in = random_field(random, owned, stencil.radius(), precision);
    const SparseSweep sweep(morph(stencil, {1, 2, 8}, Pairing::columns), precision);
    Field whole(owned, {0, 0, 0}, precision), parts(owned, {0, 0, 0}, precision);
    sweep(in, whole, owned);
    for_each_slab(owned, {{1, 3, 7}, {4, 4, 36}}, [&](const Box& slab) { sweep(in, parts, slab); });
    sweep(in, parts, {{1, 3, 7}, {4, 4, 36}});
    for (const Index3& p : points_of(owned)) ASSERT_EQ(value_at(whole, p), value_at(parts, p));
  }
}

TEST(SparseSweep, ReadsNothingBeyondTheReachOfTheRegion) {
  // NaN one point outside the inputs of the region must not affect results, although tiles overhang and pairs
  // are loaded whole.
  std::mt19937_64 random(18);
  const Stencil stencil({1, 1, 3}, {0.25, 0.5, 0.25}, {0, 0, 1});
  const Box owned{{0, 0, 0}, {1, 1, 30}}, region{{0, 0, 5}, {1, 1, 22}};
  for (const Pairing pairing : {Pairing::columns, Pairing::x_pairs}) {
    Field in = random_field(random, owned, {0, 0, 1}, Precision::bf16);
    for (const std::int64_t x : {3, 23, 24})
      *in.at<Bfloat16>({0, 0, x}) = std::bit_cast<Bfloat16>(std::uint16_t{0x7fc0});
    Field out(owned, {0, 0, 1}, Precision::bf16);
    SparseSweep(morph(stencil, {1, 1, 8}, pairing), Precision::bf16)(in, out, region);
    for (const Index3& p : points_of(region)) EXPECT_TRUE(std::isfinite(value_at(out, p)));
  }
}

Stencil random_box(std::mt19937_64& random, std::int64_t radius) {
  const std::int64_t width = 2 * radius + 1;
  std::vector<double> weights(static_cast<std::size_t>(width * width));
  for (double& w : weights) w = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  return {{1, width, width}, weights, {0, radius, radius}};
}

TEST(SparseSweep, KeepsTheFp32Promise) {
  // docs/internals/numerics.md promises a relative L2 error within 4x of plain fp32 arithmetic, here a sum
  // tap by tap.
  std::mt19937_64 random(23);
  for (const std::int64_t radius : {1, 3, 4, 7}) {
    const Stencil stencil = random_box(random, radius);
    const Box owned{{0, 0, 0}, {1, 41, 67}};
    const Field in = random_field(random, owned, stencil.radius(), Precision::fp32);
    Field out(owned, stencil.radius(), Precision::fp32);
    SparseSweep(sparse_operand(stencil, Layout::morph, m16n8k32_bf16, owned.extent()), Precision::fp32)(
        in, out, owned);
    const double ratio = testing::error_over_plain_fp32(stencil, in, out);
    RecordProperty("ratio_r" + std::to_string(radius), std::to_string(ratio));
    EXPECT_LE(ratio, 4) << radius;
  }
}

/// The promise also holds for points that are far smaller than the largest of the grid, which sets the scale
/// of pairs of fp16.
TEST(SparseSweep, KeepsTheFp32PromiseBesideLargerNumbers) {
  std::mt19937_64 random(29);
  for (const std::int64_t radius : {1, 2, 4, 7}) {
    const Stencil stencil = random_box(random, radius);
    const Box owned{{0, 0, 0}, {1, 41, 67}};
    Field in = random_field(random, owned, stencil.radius(), Precision::fp32);
    const auto sweep =
        required(make_emulated_sweep(stencil, Precision::fp32, Layout::strided_swap, 0, owned.extent()));
    ASSERT_TRUE(sweep->scales_data());
    for (const float larger : {1.0f, 0x1p14f, 0x1p20f, 0x1p26f}) {
      *in.magnitude_bound() = magnitude(larger);
      Field out(owned, stencil.radius(), Precision::fp32);
      (*sweep)(in, out, owned, nullptr);
      EXPECT_LE(testing::error_over_plain_fp32(stencil, in, out), 4) << radius << ' ' << larger;
    }
  }
}

class SeparableErrors : public ::testing::TestWithParam<int> {};

TEST_P(SeparableErrors, OfFp32AreNearThoseOfPlainArithmetic) {
  // The same promise is tested with factors and data of any sign, or of one sign.
  const int dimensions = 1 + GetParam() / 2;
  std::uniform_real_distribution<double> value(GetParam() % 2 ? 0.0 : -1.0, 1.0);
  std::mt19937_64 random(9500u);
  for (const std::int64_t radius : {1, 2, dimensions == 3 ? 3 : 7})
    for (int rank = 1; rank <= (dimensions == 1 ? 1 : 3); ++rank) {
      const Stencil stencil = testing::random_sum_of_products(random, value, dimensions, radius, rank);
      const Index3 reach = stencil.radius();
      const Box owned{{0, 0, 0}, {reach[z_axis] ? 5 : 1, reach[y_axis] ? 17 : 1, 203}};
      const Field in = testing::make_field(owned, reach, Precision::fp32, [&] { return value(random); });
      Field out(owned, reach, Precision::fp32);
      const auto sweep = required(make_emulated_sweep(stencil, Precision::fp32, Layout::separable,
                                                      unit_roundoff(Precision::fp32) / 4, owned.extent()));
      (*sweep)(in, out, owned, nullptr);
      EXPECT_LE(testing::error_over_plain_fp32(stencil, in, out), 4)
          << "radius " << radius << " rank " << rank;
    }
}

INSTANTIATE_TEST_SUITE_P(Signs, SeparableErrors, ::testing::Range(0, 6));

TEST(SparseSweep, SeparablePassesMakeTheKernel) {
  // A rank-one 2D kernel in fp32 is a pass along x and then along y. The bound is the sum of both passes'
  // errors.
  std::mt19937_64 random(19);
  std::vector<double> weights;
  for (int y = -7; y <= 7; ++y)
    for (int x = -7; x <= 7; ++x) weights.push_back(std::exp(-0.05 * (x * x + y * y)) / 60);
  const Stencil stencil({1, 15, 15}, weights, {0, 7, 7});
  const SeparableStencil separable = separate(stencil, 1e-12);
  ASSERT_EQ(separable.terms.size(), 1u);
  const Box owned{{0, 0, 0}, {1, 13, 19}}, rows = grow(owned, {0, 7, 0});
  const Field in = random_field(random, rows, {0, 7, 7}, Precision::fp32);
  Field middle(rows, {0, 7, 7}, Precision::fp32), out(rows, {0, 7, 7}, Precision::fp32);
  SparseSweep(chained_pass(axis_stencil(separable, separable.terms[0], x_axis), x_axis), Precision::fp32)(
      in, middle, rows);
  SparseSweep(chained_pass(axis_stencil(separable, separable.terms[0], y_axis), y_axis), Precision::fp32)(
      middle, out, owned);
  double total = 0;
  for (const double w : weights) total += w;
  const double pass = split_product_error(Precision::bf16, 3) +
                      15 * grid_product_error(Precision::bf16, leading_grid(1)) + (15 * 6 + 1) * 0x1p-23;
  for (const Index3& p : points_of(owned)) {
    double exact = 0;
    for (const Tap& tap : stencil.taps()) exact += tap.weight * value_at(in, p + tap.offset);
    ASSERT_NEAR(value_at(out, p), exact, (2 * pass * (1 + pass) + separable.dropped) * total);
  }
}

TEST(SparseSweep, RefusesOtherPrecisions) {
  const Stencil stencil({1, 1, 3}, {0.25, 0.5, 0.25}, {0, 0, 1});
  EXPECT_THROW(SparseSweep(morph(stencil, {1, 1, 8}, Pairing::columns), Precision::fp64),
               std::invalid_argument);
  EXPECT_THROW(SparseSweep(morph(stencil, {1, 1, 8}, Pairing::x_pairs), Precision::tf32),
               std::invalid_argument);
  EXPECT_THROW(SparseSweep(dual_tessellation(stencil), Precision::fp16), std::invalid_argument);
}

}  // namespace
}  // namespace spsolve
