// SPDX-License-Identifier: Apache-2.0
//
// stencil2row times the triangles of weights must be the correlation, and be read without bank conflicts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/sparse/dual_tessellation.hpp"

namespace spsolve {
namespace {

class Stencil2RowOf : public ::testing::TestWithParam<int> {};

TEST_P(Stencil2RowOf, TimesTheTrianglesIsTheCorrelation) {
  std::mt19937_64 random(22u + static_cast<std::uint64_t>(GetParam()));
  const int n = 1 + GetParam() % 9, kernel_rows = 1 + GetParam() / 9 % 5, height = kernel_rows + 3,
            width = 4 * (n + 1) + n - 1;
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<double> weights(static_cast<std::size_t>(n * kernel_rows)),
      plane(static_cast<std::size_t>(height * width));
  for (double& w : weights) w = value(random);
  for (double& u : plane) u = value(random);

  const Stencil2Row layout = stencil2row(n, height, width);
  EXPECT_EQ(layout.pitch % 8, 4);
  EXPECT_GT(layout.pitch, n * height);
  const auto size = static_cast<std::size_t>(layout.groups) * static_cast<std::size_t>(layout.pitch);
  std::vector<double> a(size, NAN), b(size, NAN);
  for (std::size_t at = 0; at < plane.size(); ++at) {  // no branch: points that a matrix does not hold go to
                                                       // the padding
    a.at(layout.a[at]) = plane[at];
    b.at(layout.b[at]) = plane[at];
  }

  const Operand operand = dual_tessellation(Stencil({1, kernel_rows, n}, weights, {0, 0, 0}));
  const auto packed = pack_fp64_weights(operand);
  const std::size_t half = operand.columns() / 2, steps = (operand.columns() + 15) / 16;
  for (int group = 0; group < 4; ++group)
    for (int y = 0; y + kernel_rows <= height; ++y)
      for (int output = 0; output <= n; ++output) {
        double sum = 0, exact = 0, magnitude = 0;
        for (std::size_t k = 0; k < operand.columns(); ++k) {
          // By equation 12 the tile of output row y starts n y columns to the right.
          const auto from = static_cast<std::size_t>(group * layout.pitch + n * y) + k % half;
          const std::size_t lane = static_cast<std::size_t>(output % 8) * 4 + k % 4;
          const double weight = packed[((output / 8 * steps + k / 16) * 32 + lane) * 4 + k % 16 / 4];
          if (weight != 0.0) sum += weight * (k < half ? a : b).at(from);
        }
        for (int ky = 0; ky < kernel_rows; ++ky)
          for (int kx = 0; kx < n; ++kx) {
            const double product =
                weights[ky * n + kx] * plane[(y + ky) * width + group * (n + 1) + output + kx];
            exact += product;
            magnitude += std::abs(product);
          }
        EXPECT_NEAR(sum, exact, 2 * n * kernel_rows * 0x1p-53 * magnitude);
      }
}

INSTANTIATE_TEST_SUITE_P(DualTessellation, Stencil2RowOf, ::testing::Range(0, 45));

/// This checks the row of docs/papers.md on dual tessellation, for 7 x 7 points.
TEST(DualTessellation, MultiplyAddsPerPointOfThePapersPage) {
  const std::size_t columns =
      dual_tessellation(Stencil({1, 7, 7}, std::vector<double>(49, 1.0), {0, 3, 3})).columns();
  EXPECT_EQ((columns + 15) / 16 * 16, 112U);         // both triangles in steps of m16n8k16
  EXPECT_EQ(2 * ((columns / 2 + 3) / 4 * 4), 104U);  // ConvStencil's equation 13: each in steps of m8n8k4
}

TEST(Stencil2Row, FragmentsHaveNoBankConflicts) {
  // Sixteen lanes read four rows of four doubles at once, from 16 banks of 8 bytes.
  for (int n = 1; n <= 17; ++n)
    for (int height = n; height <= n + 40; height += 3) {
      const Stencil2Row layout = stencil2row(n, height, 64);
      std::array<int, 16> banks{};
      for (int g = 0; g < 4; ++g)
        for (int q = 0; q < 4; ++q) ++banks[(g * layout.pitch + q) % 16];
      for (const int lanes : banks) EXPECT_EQ(lanes, 1);
    }
}

}  // namespace
}  // namespace spsolve
