// SPDX-License-Identifier: Apache-2.0
// These tests check 2D sweeps on the sparse tensor cores of sm_90a: every point is the correlation within its
// error bound, for any stencil, region, magnitude of data and position of the block, and no other point is
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "kernels/cuda/tensor/wgmma_sweep.hpp"
#include "kernels/magnitude.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"
#include "tests/kernels/cuda/compile_log.hpp"
#include "tests/support/correlation.hpp"
#include "tests/support/device_fields.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::cuda {
namespace {

using testing::make_field;
using testing::to_device;
using testing::to_host;
using testing::value_at;

/// Returns a box of random weights of either sign; `center` is the point itself.
Stencil random_stencil(std::mt19937_64& random, const Index3& extent, const Index3& center,
                       double least = -1.0) {
  std::uniform_real_distribution<double> value(least, 1.0);
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  for (double& weight : weights) weight = value(random);
  return {extent, weights, center};
}
Stencil random_box(std::mt19937_64& random, int radius, double least = -1.0) {
  return random_stencil(random, {1, 2 * radius + 1, 2 * radius + 1}, {0, radius, radius}, least);
}

Field random_field(std::mt19937_64& random, const Box& owned, const Index3& halo, Precision precision,
                   double largest, double least = -1.0) {
  std::uniform_real_distribution<double> value(least, 1.0);
  return make_field(owned, halo, precision, [&] { return largest * value(random); });
}

constexpr std::array formats{Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp32};

/// Returns the relative error of one product of weight and stored number, with weights already rounded. For
/// pairs it is the remainder of two terms of data, and the product of second terms.
double product_error(Precision precision) {
  if (precision == Precision::fp32) return split_product_error(Precision::fp16, 2);
  return precision == Precision::tf32 ? unit_roundoff(Precision::tf32) : 0.0;
}

/// Returns the additional error of pairs at every point. Second terms of weights are rounded from half a grid
/// spacing of the first terms, and moved by a few of their own spacings to keep the sum. Small data are
/// scaled by the largest on the grid.
double pair_error(const Stencil& stencil, Precision precision, double largest) {
  if (precision != Precision::fp32) return 0.0;
  const double taps = static_cast<double>(stencil.taps().size()), u = unit_roundoff(Precision::fp16),
               grid = leading_grid(1.0) * std::numbers::sqrt2 * sum_abs(stencil);
  return taps * grid * 4 * u * largest + sum_abs(stencil) * 0x1p-49 * largest;
}

/// Returns the error of storing a result.
double storage_error(Precision precision, double magnitude) {
  if (storage_bytes(precision) == 4) return 0.0;
  return unit_roundoff(precision) * magnitude +
         (precision == Precision::fp16 ? 0x1p-25 : 0.0);  // subnormal results
}

/// Expects that every point of the region is the correlation with the weights as operands hold them (pairs
/// hold any weights nearly exactly), and that other points are untouched.
void expect_correlation(const Stencil& stencil, Precision precision, double largest, const Field& in,
                        const Field& before, const Field& out, const Field* source, const Box& region) {
  const Stencil rounded = precision == Precision::fp32 ? stencil : *round_weights(stencil, precision);
  // Tensor cores truncate instead of rounding: twice the unit roundoff.
  const double additions = static_cast<double>(rounded.taps().size()) + 3;
  const double sums = additions * 0x1p-23 / (1 - additions * 0x1p-23), products = product_error(precision);
  testing::expect_correlation(
      rounded, in, source, before, out, region, [&](const testing::Correlation& exact) {
        const double off = (products + sums * (1 + products)) * (exact.products + std::abs(exact.source));
        return off + pair_error(stencil, precision, largest) +
               storage_error(precision, std::abs(exact.value) + off);
      });
}

double largest_of(const Field& field, const Box& region) {
  double largest = 0;
  for_each_point(region, [&](const Index3& p) { largest = std::max(largest, std::abs(value_at(field, p))); });
  return largest;
}

class OnHopper : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    testing::require_gpu();
    if (!IsSkipped() && current_device().compute_capability != 90) GTEST_SKIP() << "needs sm_90";
  }
};

TEST_P(OnHopper, EveryPointIsTheCorrelation) {
  std::mt19937_64 random(8100u + static_cast<std::uint64_t>(GetParam()));
  const auto between = [&](std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random);
  };
  const Precision precision = formats[static_cast<std::size_t>(GetParam()) % formats.size()];
  const bool is_half = storage_bytes(precision) == 2;
  const bool is_narrow = GetParam() >= 64 || precision == Precision::fp32;  // windows of one part
  const Index3 extent{1, between(1, is_half && !is_narrow ? 33 : 15), between(1, is_narrow ? 16 : 32)},
      center{0, between(0, extent[1] - 1), between(0, extent[2] - 1)};
  const Stencil stencil =
      GetParam() < 8 ? random_box(random, GetParam() < 4 ? 7 : 3) : random_stencil(random, extent, center);
  Box owned = box_of({1, 1, 1});
  for (const int axis : {y_axis, x_axis}) {
    owned.begin[axis] = between(-40, 40);
    owned.end[axis] = owned.begin[axis] + between(3, axis == y_axis ? 150 : 900);
  }
  if (random() % 2) {  // rows that begin at tiles
    const std::int64_t shifted = owned.begin[x_axis] & 3;
    owned.begin[x_axis] -= shifted;
    owned.end[x_axis] -= shifted;
  }
  Box region = owned;
  if (random() % 2)
    for (const int axis : {y_axis, x_axis}) {
      region.begin[axis] += between(0, owned.extent()[axis] / 4);
      region.end[axis] -= between(0, owned.extent()[axis] / 4);
    }
  const double largest =
      precision == Precision::fp16 ? 1.0 : std::array{1.0, 1e30, 1e-30}[GetParam() / 4 % 3];
  Field in = random_field(random, owned, stencil.radius(), precision, largest);
  if (!is_half)  // data that no output of the region uses may be any finite number
    for_each_point(in.allocated(), [&](const Index3& p) {
      if (!contains(grow(region, stencil.radius()), p)) *in.at<float>(p) *= 1e5f;
    });
  Field before = random_field(random, owned, stencil.radius(), precision, 1.0);
  *before.magnitude_bound() = 0;
  const Field source = random_field(random, owned, {0, 0, 0}, Precision::fp32, largest);
  const bool with_source = random() % 2;
  const Field device_in = to_device(in), device_source = to_device(source);
  Field device_out = to_device(before);
  const Stream stream;
  const WgmmaSweep sweep(stencil, precision, stream);
  EXPECT_EQ(sweep.scales_data(), precision == Precision::fp32);
  sweep(device_in, device_out, region, with_source ? &device_source : nullptr);
  stream.synchronize();
  const Field out = to_host(device_out);
  if (sweep.scales_data()) {
    EXPECT_EQ(*out.magnitude_bound(), magnitude(static_cast<float>(largest_of(out, region))));
  }
  expect_correlation(stencil, precision, largest, in, before, out, with_source ? &source : nullptr, region);

  if (!takes_wgmma(2, stencil, precision, Layout::strided_swap, TensorCores::dense,
                   current_device().block_limits()))
    return;
  Field from_dense = to_device(before);
  WgmmaSweep(stencil, precision, stream, {}, TensorCores::dense)(device_in, from_dense, region,
                                                                 with_source ? &device_source : nullptr);
  stream.synchronize();
  expect_correlation(stencil, precision, largest, in, before, to_host(from_dense),
                     with_source ? &source : nullptr, region);
}
INSTANTIATE_TEST_SUITE_P(Random, OnHopper, ::testing::Range(0, 96));

/// docs/internals/numerics.md promises four times the error of plain fp32 arithmetic, for any magnitude of
/// data, also where other data are larger.
class HopperPromise : public OnHopper {};

TEST_P(HopperPromise, Fp32IsKept) {
  std::mt19937_64 random(8200u + static_cast<std::uint64_t>(GetParam()));
  const int radius = 2 + GetParam() % 6;
  const bool positive = GetParam() / 6 % 2;
  const double largest = std::array{1.0, 1e30, 1e-30}[GetParam() % 3];
  const Stencil stencil = random_box(random, radius, positive ? 0.0 : -1.0);
  const Box owned = box_of({1, 64, 200});
  Field in = random_field(random, owned, stencil.radius(), Precision::fp32, largest, positive ? 0.0 : -1.0);
  if (GetParam() >= 12) *in.magnitude_bound() = magnitude(static_cast<float>(0x1p26 * largest));
  const Stream stream;
  const Field device_in = to_device(in);
  Field out = to_device(in);
  const WgmmaSweep sweep(stencil, Precision::fp32, stream);
  sweep(device_in, out, owned, nullptr);
  stream.synchronize();
  EXPECT_LT(testing::error_over_plain_fp32(stencil, in, to_host(out)), promised_over_scalar);
}

INSTANTIATE_TEST_SUITE_P(Random, HopperPromise, ::testing::Range(0, 24));

class HopperBits : public OnHopper {};

TEST_P(HopperBits, AreTheSameWhateverTheRegionAndTheBlock) {
  const Precision precision = formats[static_cast<std::size_t>(GetParam())];
  std::mt19937_64 random(9100u);
  const Stencil stencil = random_box(random, 5);
  const Box owned{{0, 0, 0}, {1, 109, 917}};
  const Field in = random_field(random, owned, stencil.radius(), precision, 1.0);
  const Stream stream;
  const WgmmaSweep sweep(stencil, precision, stream);
  testing::expect_bits_of_any_region(sweep, stream, in, {{0, 1, 1}, {1, 106, 914}},
                                     {{0, 7, 401}, {1, 98, 914}});  // begins at odd points
}
INSTANTIATE_TEST_SUITE_P(Formats, HopperBits, ::testing::Range(0, static_cast<int>(formats.size())));

TEST(WgmmaProgram, RefusesWhatNoKernelTakes) {
  std::mt19937_64 random(9400u);
  const auto is_refused = [](const Stencil& stencil, Precision precision, const BlockLimits& limits) {
    return std::holds_alternative<NoKernel>(WgmmaProgram::make(stencil, precision, limits));
  };
  EXPECT_TRUE(is_refused(random_box(random, 8), Precision::tf32, {}));
  EXPECT_TRUE(is_refused(random_box(random, 16), Precision::fp16, {}));
  EXPECT_TRUE(is_refused(random_box(random, 2), Precision::fp64, {}));
  EXPECT_TRUE(is_refused(random_box(random, 8), Precision::fp32, {}));
  EXPECT_TRUE(is_refused(random_box(random, 2), Precision::tf32, {80, 163 << 10}));
  EXPECT_TRUE(is_refused(random_stencil(random, {3, 3, 3}, {1, 1, 1}), Precision::tf32, {}));
  EXPECT_TRUE(is_refused(random_box(random, 2), Precision::tf32, {90, 8 << 10}));
  EXPECT_FALSE(is_refused(random_box(random, 2), Precision::tf32, {}));
  const auto is_refused_when_dense = [](const Stencil& stencil, Precision precision) {
    return std::holds_alternative<NoKernel>(
        WgmmaProgram::make(stencil, precision, {}, {}, TensorCores::dense));
  };
  EXPECT_TRUE(is_refused_when_dense(random_box(random, 2), Precision::tf32));
  EXPECT_TRUE(is_refused_when_dense(random_box(random, 8), Precision::fp16));
  EXPECT_FALSE(is_refused_when_dense(random_box(random, 7), Precision::fp16));
}

/// Compiles the fewest and the most rows of each format, sparse (15 or 31) and dense (15), and in fp32 those
/// around 14, from which on some rows share registers.
TEST(WgmmaTemplates, CompileWithoutSpills) {
  std::mt19937_64 random(9500u);
  for (const int rows : {3, 13, 14, 15, 31})
    for (const Precision precision : formats)
      for (const bool aligned : {false, true}) {
        if (rows > 15 && storage_bytes(precision) == 4) continue;
        if ((rows == 13 || rows == 14) && precision != Precision::fp32) continue;
        const int columns = rows | 1;
        const Stencil stencil = random_stencil(random, {1, rows, columns}, {0, rows / 2, columns / 2});
        for (const TensorCores cores : {TensorCores::sparse, TensorCores::dense}) {
          if (cores == TensorCores::dense &&
              !takes_wgmma(2, stencil, precision, Layout::strided_swap, cores, {}))
            continue;
          const WgmmaProgram program = required(WgmmaProgram::make(stencil, precision, {}, {}, cores));
          const Compiled compiled =
              KernelCompiler("sm_90a", {})
                  .compile_fresh("kernels/cuda/tensor/wgmma_sweep.cuh", program.constants(aligned, !aligned));
          EXPECT_LE(testing::max_before(compiled.log, " bytes spill"), 0) << rows << compiled.log;
          EXPECT_THAT(compiled.log, ::testing::Not(::testing::HasSubstr("serialized"))) << rows;
        }
      }
}

}  // namespace
}  // namespace spsolve::cuda
