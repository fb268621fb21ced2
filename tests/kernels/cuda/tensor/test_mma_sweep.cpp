// SPDX-License-Identifier: Apache-2.0
// These tests check sweeps on tensor cores: every point is the correlation within its error bound, for any
// stencil, layout, precision, region and position of the block, and no other point is written.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/cuda/tensor/mma_sweep.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"
#include "tests/support/correlation.hpp"
#include "tests/support/device_fields.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::cuda {
namespace {

using testing::random_field;
using testing::to_device;
using testing::to_host;
using testing::value_at;

/// Returns the relative error of one product of weight and stored number, with weights already rounded.
double product_error(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return split_product_error(Precision::bf16, 3);
    case Precision::tf32:
      return unit_roundoff(Precision::tf32);  // the datum is rounded
    default:
      return 0;
  }
}

struct SweepCase {
  int dimensions, radius;
  enum Kind { star, box, scattered, lopsided, tall } kind;  // tall: radius 1 in z, 0 in x
  Precision precision;
  Layout layout;
  TensorCores cores;
};

Stencil make_stencil(const SweepCase& c, std::mt19937_64& random) {
  Index3 extent{1, 1, 1}, center{};
  for (int axis = axis_count - c.dimensions; axis < axis_count; ++axis) {
    const int radius = c.kind != SweepCase::tall || axis == y_axis ? c.radius : axis == z_axis ? 1 : 0;
    extent[axis] = 2 * radius + 1;
    center[axis] = radius;
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

/// Expects that every point of the region is the correlation with the rounded weights, and that other points
/// are untouched.
void expect_correlation(const Stencil& stencil, const SweepCase& c, const Field& in, const Field& before,
                        const Field& out, const Field* source, const Box& region) {
  const Stencil rounded = *round_weights(stencil, c.precision);
  const double products =
      static_cast<double>(rounded.taps().size()) * (c.precision == Precision::fp32 ? 6 : 1);
  // Tensor cores truncate instead of rounding and may keep no bit beyond fp32: twice the unit roundoff.
  const double u = c.precision == Precision::fp64 ? 0x1p-53 : 0x1p-23;
  const double sums = (products + 1) * u / (1 - (products + 1) * u);
  const double stored = unit_roundoff(c.precision == Precision::tf32 ? Precision::fp32 : c.precision);
  const double smallest = c.precision == Precision::fp16 ? 0x1p-25 : 0;  // subnormal results
  const double product = product_error(c.precision), grid = testing::grid_error(rounded, c.precision);
  testing::expect_correlation(rounded, in, source, before, out, region,
                              [&](const testing::Correlation& exact) {
                                const double magnitude = exact.products + std::abs(exact.source);
                                return ((product + sums * (1 + product)) * magnitude + grid) * (1 + stored) +
                                       stored * std::abs(exact.value) + smallest;
                              });
}

Domain domain_of(int dimensions) {
  Domain domain;
  domain.dimensions = dimensions;
  return domain;
}

class OnTensorCores : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { testing::require_gpu(); }
};

SweepCase sweep_case(int which) {
  constexpr std::array precisions{Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32,
                                  Precision::fp64};
  std::mt19937_64 random(7000u + static_cast<std::uint64_t>(which));
  SweepCase c{};
  c.dimensions = 1 + which % 3;
  c.precision = precisions[which / 3 % precisions.size()];
  const bool heavy = c.dimensions == 3 || c.precision == Precision::fp32;
  c.radius = 1 + static_cast<int>(random() % (heavy ? 3 : 8));
  c.kind = static_cast<SweepCase::Kind>(random() % 4);
  c.layout = random() % 3 ? Layout::morph : Layout::strided_swap;
  c.cores = random() % 4 ? TensorCores::sparse : TensorCores::dense;
  return c;
}

/// Checks a sweep of a random block, at most `most` wide, on some region of it.
void check(const SweepCase& c, const Index3& most, std::uint64_t seed) {
  const Stream stream;
  std::mt19937_64 random(seed);
  const auto between = [&](std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random);
  };
  const Stencil stencil = make_stencil(c, random);
  Box owned;
  for (int axis = axis_count - c.dimensions; axis < axis_count; ++axis) {
    owned.begin[axis] = between(-40, 40);
    owned.end[axis] = owned.begin[axis] + between(most[axis] / 3, most[axis]);
  }
  if (random() % 2) {  // rows that begin at tiles
    const std::int64_t shifted = owned.begin[x_axis] & 3;
    owned.begin[x_axis] -= shifted;
    owned.end[x_axis] -= shifted;
  }
  for (int axis = 0; axis < axis_count - c.dimensions; ++axis) owned.begin[axis] = 0, owned.end[axis] = 1;
  Box region = owned;
  if (random() % 2)
    for (int axis = axis_count - c.dimensions; axis < axis_count; ++axis) {
      region.begin[axis] += between(0, owned.extent()[axis] / 4);
      region.end[axis] -= between(0, owned.extent()[axis] / 4);
    }
  const Field in = random_field(random, owned, stencil.radius(), c.precision),
              before = random_field(random, owned, stencil.radius(), c.precision),
              source = random_field(random, owned, {0, 0, 0},
                                    c.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32);
  const bool with_source = random() % 2;
  const Field device_in = to_device(in), device_source = to_device(source);
  Field device_out = to_device(before);
  const MmaSweep sweep(domain_of(c.dimensions), stencil, c.precision, c.layout, c.cores, stream);
  sweep(device_in, device_out, region, with_source ? &device_source : nullptr);
  stream.synchronize();
  expect_correlation(stencil, c, in, before, to_host(device_out), with_source ? &source : nullptr, region);
}

Index3 largest_grid(int dimensions) {
  return dimensions == 1 ? Index3{1, 1, 3001} : dimensions == 2 ? Index3{1, 71, 301} : Index3{23, 37, 157};
}

TEST_P(OnTensorCores, EveryPointIsTheCorrelation) {
  const SweepCase c = sweep_case(GetParam());
  check(c, largest_grid(c.dimensions), 8000u + static_cast<std::uint64_t>(GetParam()));
}

std::string name_of(const SweepCase& c) {
  constexpr const char* kinds[]{"star", "box", "scattered", "lopsided", "tall"};
  return kinds[c.kind] + std::to_string(c.dimensions) + "d" + std::to_string(c.radius) + "r_" +
         std::string(to_string(c.precision)) + (c.layout == Layout::morph ? "_morph" : "_swap") +
         (c.cores == TensorCores::sparse ? "_sparse" : "_dense");
}
INSTANTIATE_TEST_SUITE_P(Random, OnTensorCores, ::testing::Range(0, 120), [](const auto& test) {
  return std::to_string(test.param) + "_" + name_of(sweep_case(test.param));
});

class WideOnTensorCores : public ::testing::TestWithParam<SweepCase> {
 protected:
  void SetUp() override { testing::require_gpu(); }
};

/// These cases have more planes within reach than a march keeps sums for, weights that exceed shared memory,
/// more rows than one copy brings, and many taps in fp32.
TEST_P(WideOnTensorCores, EveryPointIsTheCorrelation) {
  const SweepCase c = GetParam();
  for (const std::uint64_t seed : {1u, 2u})
    check(c, c.dimensions == 2 ? Index3{1, 71, 157} : Index3{17, 19, 43}, seed);
}

constexpr auto sparse = TensorCores::sparse, dense = TensorCores::dense;
constexpr auto morph = Layout::morph, swap = Layout::strided_swap;
constexpr auto star = SweepCase::star, box = SweepCase::box, scattered = SweepCase::scattered,
               lopsided = SweepCase::lopsided, tall = SweepCase::tall;
constexpr auto fp16 = Precision::fp16, bf16 = Precision::bf16, tf32 = Precision::tf32, fp32 = Precision::fp32,
               fp64 = Precision::fp64;
INSTANTIATE_TEST_SUITE_P(
    Wide, WideOnTensorCores,
    ::testing::Values(
        SweepCase{2, 13, box, fp16, morph, sparse}, SweepCase{2, 15, scattered, bf16, morph, dense},
        SweepCase{2, 16, star, fp16, swap, sparse}, SweepCase{2, 20, lopsided, fp16, morph, sparse},
        SweepCase{2, 40, box, fp16, morph, sparse}, SweepCase{2, 14, box, tf32, morph, sparse},
        SweepCase{2, 17, box, fp32, morph, sparse}, SweepCase{2, 19, box, fp64, morph, dense},
        SweepCase{3, 6, box, fp16, morph, sparse}, SweepCase{3, 7, scattered, bf16, swap, sparse},
        SweepCase{3, 8, star, fp16, morph, sparse}, SweepCase{3, 9, box, fp16, morph, sparse},
        SweepCase{3, 6, box, tf32, morph, sparse}, SweepCase{3, 7, box, fp32, morph, sparse},
        SweepCase{3, 8, lopsided, fp64, morph, dense}, SweepCase{3, 130, tall, fp16, morph, sparse},
        SweepCase{3, 127, tall, fp32, swap, sparse},
        // These cases have many taps in fp32.
        SweepCase{1, 53, box, fp32, morph, sparse}, SweepCase{2, 4, box, fp32, swap, sparse},
        SweepCase{2, 5, box, fp32, morph, sparse}, SweepCase{2, 7, box, fp32, morph, sparse},
        SweepCase{2, 7, box, fp32, morph, dense}, SweepCase{2, 9, scattered, fp32, swap, sparse},
        SweepCase{3, 2, box, fp32, morph, sparse}, SweepCase{3, 2, box, fp32, morph, dense},
        SweepCase{3, 3, scattered, fp32, swap, sparse}, SweepCase{3, 4, lopsided, fp32, morph, sparse}),
    [](const auto& test) { return name_of(test.param); });

class TensorCoreErrors : public OnTensorCores {};

TEST_P(TensorCoreErrors, OfFp32AreNearThoseOfPlainArithmetic) {
  // Weights and data have any sign, or one sign, for which truncation would accumulate; in 2D and in 3D.
  const double least = GetParam() % 2 ? 0.0 : -1.0;
  const Index3 reach = GetParam() < 2 ? Index3{0, 4, 4} : Index3{2, 2, 2},
               extent = 2 * reach + Index3{1, 1, 1};
  std::mt19937_64 random(9300u);
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  std::uniform_real_distribution<double> value(least, 1.0);
  for (double& weight : weights) weight = value(random);
  const Stencil stencil(extent, weights, reach);
  const Box owned{{0, 0, 0}, {reach[z_axis] ? 9 : 1, 61, 103}};
  const Field in = testing::make_field(owned, reach, fp32, [&] { return value(random); });
  const Stream stream;
  const MmaSweep sweep(domain_of(reach[z_axis] ? 3 : 2), stencil, fp32, morph, sparse, stream);
  const double ratio =
      testing::error_over_plain_fp32(stencil, in, testing::swept(sweep, stream, in, {owned}));
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(ratio, 4);
}
INSTANTIATE_TEST_SUITE_P(Signs, TensorCoreErrors, ::testing::Range(0, 4));

class TensorCoreBits : public OnTensorCores {};

TEST_P(TensorCoreBits, AreTheSameWhateverTheRegionAndTheBlock) {
  const Stream stream;
  const SweepCase c{1 + GetParam() % 3, 2, box, std::array{fp16, fp32, fp64}[GetParam() / 3], morph, sparse};
  std::mt19937_64 random(9000u);
  const Stencil stencil = make_stencil(c, random);
  Box owned{{0, 0, 0}, {c.dimensions == 3 ? 19 : 1, c.dimensions > 1 ? 45 : 1, 203}};
  const Field in = random_field(random, owned, stencil.radius(), c.precision);
  const MmaSweep sweep(domain_of(c.dimensions), stencil, c.precision, c.layout, c.cores, stream);
  Box inner = owned;
  for (int axis = axis_count - c.dimensions; axis < axis_count; ++axis)
    ++inner.begin[axis], inner.end[axis] -= 3;
  Box block = inner;  // begins at an odd point
  block.begin[x_axis] += 36;
  testing::expect_bits_of_any_region(sweep, stream, in, inner, block);
}

INSTANTIATE_TEST_SUITE_P(Formats, TensorCoreBits, ::testing::Range(0, 9));

}  // namespace
}  // namespace spsolve::cuda
