// SPDX-License-Identifier: Apache-2.0
// Runs the steps of --suite layouts, as they are compiled for GPUs, in an emulation of their blocks. No GPU
// is needed. Every output is compared with the sum of its products.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "emulated_layouts.hpp"
#include "kernels/cuda/ceilings/layout_sweeps.hpp"
#include "kernels/sparse/element_bits.hpp"

namespace spsolve::cuda {
namespace {

/// Returns `rows` rows of `points` random weights; asymmetric, as mirrored ones would hide faults.
Stencil random_stencil(std::int64_t rows, std::int64_t points) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> weight(-1, 1);
  std::vector<double> weights(static_cast<std::size_t>(rows * points));
  for (double& value : weights) value = weight(random);
  return {{1, rows, points}, weights, {0, rows / 2, points / 2}};
}

class Rows : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Rows, AreTheStencil) {
  const auto [kernel_rows, step_number] = GetParam();
  const auto step = static_cast<RowStep>(step_number);
  const Stencil stencil = random_stencil(kernel_rows, row_points);
  RowArguments a{};
  a.rows = 2 * row_tile_rows, a.columns = 2 * layout_columns;
  a.in_pitch = kernel_rows == 1 ? a.columns : a.columns + 16;
  const int in_rows = a.rows + kernel_rows - 1;
  std::vector<double> in(static_cast<std::size_t>(in_rows * a.in_pitch + natural_window));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = layout_value(static_cast<long long>(i));
  std::vector<double> out(static_cast<std::size_t>(a.rows * a.columns),
                          std::numeric_limits<double>::quiet_NaN());
  a.matrix_pitch = row_points * in_rows;
  a.strip_rows = 20;  // so that strips differ in length
  std::vector<double> matrix(static_cast<std::size_t>(std::max<long long>(
      row_points * kernel_rows * a.strip_rows * a.columns, 2 * a.matrix_pitch * (a.columns / row_outputs))));
  const std::vector<double> weights = row_weights(stencil), fragments = row_fragments(stencil, step);
  const std::vector<int> places = row_places(kernel_rows);
  std::copy(weights.begin(), weights.end(), a.weights);
  a.in = in.data(), a.out = out.data(), a.matrix = matrix.data();
  a.fragments = fragments.data(), a.places = places.data();
  launch_emulated_rows(a, kernel_rows, step);
  for (int y = 0; y < a.rows; ++y)
    for (int x = 0; x < a.columns; ++x) {
      const ExactOutput exact = exact_output(stencil, a.in_pitch, y, x);
      ASSERT_NEAR(out[static_cast<std::size_t>(y * a.columns + x)], exact.value,
                  row_tolerance(stencil, exact))
          << y << ", " << x;
    }
}

INSTANTIATE_TEST_SUITE_P(Steps, Rows, ::testing::Combine(::testing::Values(1, 7), ::testing::Range(0, 8)));

class Bands : public ::testing::TestWithParam<std::tuple<BandForm, bool>> {};

TEST_P(Bands, AreTheStencil) {
  const auto [form, staged] = GetParam();
  for (const std::int64_t points : {5, 15}) {
    const Stencil stencil = rounded_to_fp16(random_stencil(5, points));
    BandArguments a{};
    a.rows = 2 * band_tile_rows, a.columns = 2 * layout_columns, a.in_pitch = a.columns + 16;
    std::vector<unsigned short> in(static_cast<std::size_t>((a.rows + 4) * a.in_pitch));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] =
          static_cast<unsigned short>(element_bits(Precision::fp16, layout_value(static_cast<long long>(i))));
    std::vector<unsigned short> out(static_cast<std::size_t>(a.rows * a.columns), 0xffff);  // NaN
    const BandWeights weights = band_weights(stencil, form);
    EXPECT_EQ(weights.kernel_rows, 5);
    a.in = in.data(), a.out = out.data();
    a.weights = weights.weights.data(), a.metadata = weights.metadata.data();
    launch_emulated_band(a, form, staged);
    for (int y = 0; y < a.rows; ++y)
      for (int x = 0; x < a.columns; ++x) {
        const ExactOutput exact = exact_output(stencil, a.in_pitch, y, x);
        ASSERT_NEAR(element_value(Precision::fp16, out[static_cast<std::size_t>(y * a.columns + x)]),
                    exact.value, band_tolerance(stencil, exact))
            << y << ", " << x;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, Bands,
                         ::testing::Combine(::testing::Values(BandForm::dense, BandForm::swapped,
                                                              BandForm::sparse),
                                            ::testing::Bool()));

TEST(RowWeights, AreOfOnePlaneAndAtMostSevenRowsOfSevenPoints) {
  EXPECT_THROW(row_weights(random_stencil(8, 7)), std::invalid_argument);
  EXPECT_THROW(row_weights(random_stencil(7, 8)), std::invalid_argument);
  EXPECT_THROW(row_weights(Stencil({2, 1, 1}, {1, 1}, {0, 0, 0})), std::invalid_argument);
  EXPECT_THROW(band_weights(random_stencil(5, 16), BandForm::sparse), std::invalid_argument);
}

}  // namespace
}  // namespace spsolve::cuda
