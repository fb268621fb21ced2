// SPDX-License-Identifier: Apache-2.0
#include "kernels/catalogue/catalogue.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <set>

#include "kernels/catalogue/presets.hpp"
#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reference.hpp"
#include "tests/support/catalogue_case.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve {
namespace {

/// Returns the sum of the magnitudes of the weights, times the rounding errors of weights and of their sum.
double rounding_of(const Stencil& stencil) {
  return 0x1p-52 * sum_abs(stencil) * static_cast<double>(stencil.taps().size() + 16);
}

class Catalogue : public ::testing::TestWithParam<CatalogueEntry> {};

TEST(CatalogueNames, AreUniqueAndComeFromManyDomainsWithSources) {
  std::set<std::string> names, domains;
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    domains.insert(entry.domain);
    EXPECT_THAT(entry.source, ::testing::HasSubstr("(")) << entry.name << " has no year";
  }
  EXPECT_GE(names.size(), 79u);
  EXPECT_GE(domains.size(), 9u);
  EXPECT_EQ(find_in_catalogue("heat2d")->domain, "diffusion");
  EXPECT_EQ(find_in_catalogue("heat4d"), nullptr);
}

TEST(CatalogueNames, HaveEquations) {
  const auto text = [](const char* name) { return equation_text(*find_in_catalogue(name)); };
  EXPECT_EQ(text("heat1d"), "du/dt = 0.25 d2u/dx2");
  EXPECT_EQ(text("heat2d-anisotropic"), "du/dt = 0.2 d2u/dx2 + 0.1 d2u/dy2 + 0.1 d2u/dxdy");
  EXPECT_EQ(text("swift-hohenberg2d"),
            "du/dt = -0.015 u - 0.02 d2u/dy2 - 0.02 d2u/dx2 - 0.01 d4u/dy4 - 0.02 d4u/dx2dy2 - 0.01 d4u/dx4");
  EXPECT_EQ(text("cahn-hilliard3d"),
            "du/dt = 0.04 d2u/dz2 + 0.04 d2u/dy2 + 0.04 d2u/dx2 - 0.005 d4u/dz4 - 0.01 d4u/dy2dz2 - "
            "0.01 d4u/dx2dz2 - 0.005 d4u/dy4 - 0.01 d4u/dx2dy2 - 0.005 d4u/dx4");
  EXPECT_EQ(text("surface-diffusion2d"), "du/dt = -0.01 d4u/dy4 - 0.02 d4u/dx2dy2 - 0.01 d4u/dx4");
  EXPECT_EQ(text("sobel"), "u' = 0.25 du/dx");
  EXPECT_EQ(text("mean2d"), "a filter");
}

TEST_P(Catalogue, IsAPresetOfItsDimension) {
  const CatalogueEntry& entry = GetParam();
  EXPECT_EQ(preset_dimensions(entry.name), entry.dimensions);
  EXPECT_EQ(make_preset(entry.name, entry.dimensions, {1, 1, 1}, {}).taps(), entry.stencil.taps());
  EXPECT_THROW(make_preset(entry.name, entry.dimensions % 3 + 1, {1, 1, 1}, {}), PresetError);
  EXPECT_THROW(make_preset(entry.name, entry.dimensions, {1, 1, 1}, {{"dt", {0.1}}}), PresetError);
}

TEST_P(Catalogue, AmplifiesNoWave) {
  const CatalogueEntry& entry = GetParam();
  Index3 shape{1, 1, 1};
  for (int axis = axis_count - entry.dimensions; axis < axis_count; ++axis) shape[axis] = 20;
  EXPECT_LE(growth_factor(entry.stencil, shape), 1.0 + rounding_of(entry.stencil));
}

// Halving a wave number must divide the distance from the equation by at least 2^error_power, because the
// moments of the weights equal those of the equation up to that power. For the largest wave number the next
// power is 1/5 of it.
TEST_P(Catalogue, ApproximatesItsEquation) {
  const CatalogueEntry& entry = GetParam();
  for (const std::array<double, 3> direction :
       {std::array{0.37, 0.61, 0.7}, {0.8, -0.3, 0.52}, {-0.1, 0.7, -0.7}}) {
    const auto distance = [&](double length) {
      std::array<double, 3> theta{};
      for (int axis = axis_count - entry.dimensions; axis < axis_count; ++axis)
        theta[axis] = length * direction[axis];
      const std::complex<double> rate = exponent(entry.equation, theta);
      return std::abs(symbol_at(entry.stencil, theta) - (entry.role == Role::step ? std::exp(rate) : rate));
    };
    const double at_half = distance(0.1), allowed = distance(0.2) * std::exp2(-entry.error_power) * 1.4;
    EXPECT_LE(at_half, allowed + rounding_of(entry.stencil));
  }
}

TEST_P(Catalogue, SumsToOneOrToNothing) {
  const CatalogueEntry& entry = GetParam();
  if (entry.error_power == 0) GTEST_SKIP() << "its source claims nothing about its sum";
  const double decay = entry.equation.empty() ? 0.0 : exponent(entry.equation, {}).real();
  EXPECT_NEAR(symbol_at(entry.stencil, {}).real(), entry.role == Role::step ? std::exp(decay) : 0.0,
              rounding_of(entry.stencil));
}

TEST_P(Catalogue, CpuUnitMatchesReference) {
  const CatalogueEntry& entry = GetParam();
  const testing::RandomCase problem = testing::catalogue_case(entry);
  const int steps = 3;
  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps);
  const CpuUnit unit(problem.domain, problem.stencil, Precision::fp64, nullptr);
  const auto found =
      testing::advance_whole_grid(problem, unit, Precision::fp64, steps, problem.u, {problem.domain.box()});
  const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps, 1.0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], bound) << "point " << i;
}

INSTANTIATE_TEST_SUITE_P(All, Catalogue, ::testing::ValuesIn(catalogue()), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace spsolve
