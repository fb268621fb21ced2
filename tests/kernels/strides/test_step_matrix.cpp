// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/step_matrix.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/catalogue/presets.hpp"
#include "kernels/reference.hpp"
#include "kernels/strides/spectral_radius.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/evaluate_canonical.hpp"
#include "tests/support/reference_step.hpp"

namespace spsolve::testing {
namespace {

Canonical canonical_of(const std::string& step, int dimensions, std::vector<std::string> fields,
                       double dt = 1.0) {
  StepNames names;
  names.dimensions = dimensions;
  names.fields = std::move(fields);
  names.dt = dt;
  return canonical_form(resolve_step(parse_step(step), names));
}

/// Returns the matrix applied once to a periodic state: the fields at step n, then those of the step before.
std::vector<std::vector<double>> apply_matrix(const StencilMatrix& matrix, const Domain& domain,
                                              const std::vector<std::vector<double>>& unknowns) {
  std::vector<std::vector<double>> result(unknowns.size(), std::vector<double>(unknowns[0].size(), 0.0));
  for (int row = 0; row < matrix.size(); ++row)
    for (int column = 0; column < matrix.size(); ++column)
      if (const auto stencil = matrix.at(row, column).stencil())
        result[row] = reference_step(domain, *stencil, unknowns[column], &result[row]);
  return result;
}

/// Returns the matrix of several steps.
StencilMatrix power(const StencilMatrix& step, int steps) {
  StencilMatrix product = step;
  for (int i = 1; i < steps; ++i) {
    StencilMatrix next(step.size());
    for (int row = 0; row < step.size(); ++row)
      for (int column = 0; column < step.size(); ++column)
        for (int k = 0; k < step.size(); ++k)
          next.at(row, column) = next.at(row, column) + product.at(row, k) * step.at(k, column);
    product = std::move(next);
  }
  return product;
}

TEST(StepMatrix, PowersAreStepsOfLinearSystems) {
  std::mt19937 random(23);
  int compared = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const ExampleStep example = RandomStep(seed, true).step();
    const System system = system_of(example);
    RandomProblem problem(example, random, 5);
    make_whole(problem, random);
    for (Domain& domain : problem.context.fields) domain.faces = {};
    const auto step = step_matrix(canonical_form(system));
    ASSERT_TRUE(step) << example.step;
    for (const int t : {1, 2, 3}) {
      const auto expected = reference_steps(system, problem.context, problem.state, t);
      auto unknowns = problem.state.now;
      for (const int field : step->previous) unknowns.push_back(problem.state.previous[field]);
      const auto state = apply_matrix(power(step->matrix, t), problem.context.fields[0], unknowns);
      double scale = 1.0;  // no rounding is larger than that of the largest sum of magnitudes
      for (int row = 0; row < step->matrix.size(); ++row)
        for (int column = 0; column < step->matrix.size(); ++column)
          if (const auto stencil = power(step->matrix, t).at(row, column).stencil())
            scale += 3.0 * sum_abs(*stencil) * static_cast<double>(stencil->taps().size());
      for (std::size_t field = 0; field < expected.now.size(); ++field)
        for (std::size_t i = 0; i < expected.now[field].size(); ++i)
          ASSERT_NEAR(state[field][i], expected.now[field][i], 0x1p-52 * scale) << seed << "\n"
                                                                                << example.step;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 900);
}

TEST(StepMatrix, OfOneFieldHasTheBitsOfFuseSteps) {
  const Canonical canonical =
      canonical_of("u.next = 0.1*u[-1, 0] + 0.3*u + u[0, 2]/3 - 0.05*u[1, 1]", 2, {"u"});
  const auto step = step_matrix(canonical);
  const Stencil stencil = canonical.nodes[canonical.equations[0].node].links[0].stencil;
  for (const int t : {1, 2, 5})
    EXPECT_EQ(power(step->matrix, t).at(0, 0).stencil()->taps(), fuse_steps(stencil, t).taps());
}

TEST(StepMatrix, IsNoneWhereWeightsVary) {
  EXPECT_FALSE(step_matrix(canonical_of("u.next = u*t", 1, {"u"})));
  EXPECT_FALSE(step_matrix(canonical_of("u.next = u*u", 1, {"u"})));
  EXPECT_FALSE(step_matrix(canonical_of("u.next = u*x", 1, {"u"})));
  EXPECT_TRUE(step_matrix(canonical_of("u.next = u + x + t", 1, {"u"})));
  EXPECT_TRUE(step_matrix(canonical_of("u.next = u + 2*(v + t); v.next = 0", 1, {"u", "v"})));
}

/// Compares strides of t steps with single steps over 84 steps on a periodic grid.
void expect_strides(const std::string& step, int dimensions, int order) {
  const Canonical canonical = canonical_of(step, dimensions, {"u"}, 0.25);
  const auto equation = two_level_equation(canonical);
  ASSERT_TRUE(equation) << step;
  StepContext context;
  Domain domain;
  domain.dimensions = dimensions;
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) domain.shape[axis] = 9 + 2 * axis;
  context.fields = {domain};
  context.dt = 0.25;
  SystemState<double> state;
  std::mt19937 random(1);
  for (auto* level : {&state.now, &state.previous}) {
    level->emplace_back();
    for (std::int64_t i = 0; i < volume(domain.shape); ++i)
      level->front().push_back(std::uniform_real_distribution<double>(-1, 1)(random));
  }
  state.previous = state.now;  // at rest
  constexpr int steps = 84;
  std::vector<std::vector<double>> trajectory{state.now[0]};
  for (int step_number = 0; step_number < steps; ++step_number) {
    state = canonical_step(canonical, context, state);
    trajectory.push_back(state.now[0]);
  }
  for (const int t : dimensions == 3 ? std::vector{2, 3} : std::vector{2, 3, 4, 7}) {
    const StrideLeapfrog stride = stride_leapfrog(equation->s, equation->q, t);
    std::vector<double> before = trajectory[0], now = trajectory[static_cast<std::size_t>(t)];
    for (int n = t; n < steps; n += t) {
      for (double& value : before) value *= stride.previous;
      std::vector<double> next = reference_step(domain, stride.now, now, &before);
      before = std::move(now);
      now = std::move(next);
    }
    for (std::size_t i = 0; i < now.size(); ++i)
      ASSERT_NEAR(now[i], trajectory[steps][i], 1e-13) << step << ", t = " << t << ", order " << order;
  }
}

TEST(StrideLeapfrog, IsSingleSteps) {
  for (const int dimensions : {1, 2, 3})
    for (const int order : {2, 8})
      for (const char* damping : {"1", "0.97"}) {
        const std::string q = damping;
        expect_strides("u.next = (1 + " + q + ")*u - " + q +
                           "*u.previous + dt^2*laplace(u, order=" + std::to_string(order) + ")",
                       dimensions, order);
      }
}

TEST(StrideLeapfrog, OfOneStepIsTheEquation) {
  const Stencil s({1, 1, 3}, {0.1, 1.8, 0.1}, {0, 0, 1});
  const StrideLeapfrog once = stride_leapfrog(s, 0.5, 1);
  EXPECT_EQ(once.now.taps(), s.taps());
  EXPECT_EQ(once.previous, -0.5);
  EXPECT_EQ(stride_leapfrog(s, 0.5, 3).previous, -0.125);
  EXPECT_THROW(stride_leapfrog(s, 0.5, 0), std::invalid_argument);
}

Growth growth_of_step(const std::string& step, int dimensions, std::vector<std::string> fields,
                      double dt = 1.0) {
  const auto matrix = step_matrix(canonical_of(step, dimensions, std::move(fields), dt));
  return growth_of(matrix->matrix, dimensions == 1 ? Index3{1, 1, 32} : Index3{1, 16, 16});
}

TEST(SpectralRadius, OfWaves) {
  const std::string wave = "u.next = 2*u - u.previous + dt^2*laplace(u)";
  // The step is below, at and above the limit dt = 1/sqrt(dimensions) for the spacing 1.
  for (const int dimensions : {1, 2}) {
    const double limit = 1.0 / std::sqrt(dimensions);
    const Growth below = growth_of_step(wave, dimensions, {"u"}, 0.9 * limit);
    EXPECT_NEAR(below.spectral_radius, 1.0, 1e-12);
    EXPECT_FALSE(below.defective);
    // At the limit the shortest wave has the double eigenvalue -1 with one eigenvector: it grows linearly.
    const Growth at = growth_of_step(wave, dimensions, {"u"}, limit);
    EXPECT_NEAR(at.spectral_radius, 1.0, 1e-12);
    EXPECT_TRUE(at.defective);
    EXPECT_DOUBLE_EQ(at.defective_wave[x_axis], std::numbers::pi);
    // Above the limit the larger root of l + 1/l = 2 - 4 (dt/limit)^2 is the growth.
    const double half = 1.0 - 2.0 * 1.1 * 1.1;
    const Growth above = growth_of_step(wave, dimensions, {"u"}, 1.1 * limit);
    EXPECT_NEAR(above.spectral_radius, -half + std::sqrt(half * half - 1.0), 1e-12);
    EXPECT_DOUBLE_EQ(above.wave[x_axis], std::numbers::pi);
  }
}

TEST(SpectralRadius, OfOneFieldIsTheGrowthFactor) {
  const Stencil stencil = make_preset("advection-diffusion", 2, {1, 1, 1},
                                      {{"diffusivity", {0.1}}, {"velocity", {0.5, 0.7}}, {"dt", {0.9}}});
  StencilMatrix step(1);
  step.at(0, 0) = LongWeights(stencil.taps());
  EXPECT_NEAR(growth_of(step, {1, 24, 20}).spectral_radius, growth_factor(stencil, Index3{1, 24, 20}), 1e-14);
}

/// The waves of large matrices are thinned out, but diffusion beyond its limit amplifies the shortest one.
TEST(SpectralRadius, OfManyFieldsKnowsTheShortestWave) {
  constexpr double diffusivity = 1.05 / 6;  // the limit is 1/6
  const Stencil stencil =
      make_preset("advection-diffusion", 3, {1, 1, 1},
                  {{"diffusivity", {diffusivity}}, {"velocity", {0.0, 0.0, 0.0}}, {"dt", {1.0}}});
  StencilMatrix step(45);
  for (int field = 0; field < step.size(); ++field) step.at(field, field) = LongWeights(stencil.taps());
  EXPECT_NEAR(growth_of(step, {10, 10, 10}).spectral_radius, 12 * diffusivity - 1, 1e-12);
}

TEST(SpectralRadius, OfYeeIn2D) {
  const std::string yee = R"(
    hz.next = hz + dt*(d(ex, y, at=0.5) - d(ey, x, at=0.5))
    ex.next = ex + dt*d(hz.next, y, at=-0.5)
    ey.next = ey - dt*d(hz.next, x, at=-0.5)
  )";
  const Growth below = growth_of_step(yee, 2, {"ex", "ey", "hz"}, 0.7);
  EXPECT_NEAR(below.spectral_radius, 1.0, 1e-12);
  EXPECT_FALSE(below.defective) << "static fields keep the eigenvalue 1";
  EXPECT_GT(growth_of_step(yee, 2, {"ex", "ey", "hz"}, 0.75).spectral_radius, 1.1);
}

TEST(SpectralRadius, OfFieldsThatOnlyDriveOneAnother) {
  // v is constant and is added to u in every step, so all waves grow linearly.
  EXPECT_TRUE(growth_of_step("u.next = u + v; v.next = v", 1, {"u", "v"}).defective);
  EXPECT_FALSE(growth_of_step("u.next = u; v.next = v", 1, {"u", "v"}).defective);
  EXPECT_FALSE(growth_of_step("u.next = 0.5*u + v; v.next = 0.5*v", 1, {"u", "v"}).defective);
}

TEST(SpectralRadius, OfALongRingOfWeakCouplings) {
  // The products of the couplings underflow. The eigenvalues of a wave with the symbol s are s + 0.001 w, w^n
  // = 1.
  std::string step;
  std::vector<std::string> fields;
  constexpr int n = 60;
  for (int i = 0; i < n; ++i) {
    fields.push_back(fmt::format("u{}", i));
    step += fmt::format("u{0}.next = u{0} + 0.01*laplace(u{0}) + 0.001*u{1}\n", i, (i + 1) % n);
  }
  for (const int dimensions : {1, 2})
    EXPECT_NEAR(growth_of_step(step, dimensions, fields).spectral_radius, 1.001, 1e-12);
}

/// Returns the growth of a field in one step after many steps, in which the wave that grows most prevails.
double growth_by_steps(const Stencil& stencil, const Domain& domain) {
  std::vector<double> u;
  for (std::int64_t i = 0; i < domain.shape[x_axis]; ++i)
    u.push_back(1.0 + 0.3 * std::sin(1.0 + static_cast<double>(i * i)));
  double growth = 0;
  for (int i = 0; i < 3000; ++i) {
    u = reference_step(domain, stencil, u);
    growth = std::sqrt(std::inner_product(u.begin(), u.end(), u.begin(), 0.0));
    for (double& value : u) value /= growth;
  }
  return growth;
}

TEST(SpectralRadius, OfOneFieldBetweenWallsIsTheGrowthFactor) {
  constexpr std::array kinds{BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::value};
  // The longest step of a periodic axis of 5 points is 0.5528, between dirichlet walls it is 0.5359.
  const Stencil stencil = make_preset("heat", 1, {1, 1, 1}, {{"diffusivity", {1.0}}, {"dt", {0.545}}});
  StencilMatrix step(1);
  step.at(0, 0) = LongWeights(stencil.taps());
  for (const std::int64_t points : {1, 2, 5, 8, 31})
    for (const BoundaryKind first : kinds)
      for (const BoundaryKind last : kinds) {
        Domain domain;
        domain.dimensions = 1;
        domain.shape = {1, 1, points};
        domain.faces[x_axis] = {Face{first}, Face{last}};
        EXPECT_NEAR(growth_of(step, {domain}).spectral_radius, growth_factor(stencil, domain), 1e-14)
            << points << " " << static_cast<int>(first) << static_cast<int>(last);
        EXPECT_NEAR(growth_of(step, {domain}).spectral_radius, growth_by_steps(stencil, domain), 1e-9)
            << points << " " << static_cast<int>(first) << static_cast<int>(last);
        // Another field may have other walls, and so other waves.
        Domain torus = domain;
        torus.faces = {};
        EXPECT_GE(growth_of(step, {torus, domain}).spectral_radius, growth_factor(stencil, domain) - 1e-14);
      }
}

/// A step that reads past the whole grid finds reflections beyond value walls that no wave has.
TEST(SpectralRadius, BoundsTheGrowthOfStepsThatReadPastTheGrid) {
  const Stencil stencil =
      fuse_steps(make_preset("heat", 1, {1, 1, 1}, {{"diffusivity", {1.0}}, {"dt", {0.52}}}), 4);
  StencilMatrix step(1);
  step.at(0, 0) = LongWeights(stencil.taps());
  for (const std::int64_t points : {2, 3, 5})
    for (const BoundaryKind first : {BoundaryKind::neumann, BoundaryKind::value}) {
      Domain domain;
      domain.dimensions = 1;
      domain.shape = {1, 1, points};
      domain.faces[x_axis] = {Face{first}, Face{BoundaryKind::value}};
      const double growth = growth_by_steps(stencil, domain);
      EXPECT_GE(growth_factor(stencil, domain), growth - 1e-9) << points << " " << to_string(first);
      EXPECT_GE(growth_of(step, {domain}).spectral_radius, growth - 1e-9)
          << points << " " << to_string(first);
    }
}

TEST(SpectralRadius, BetweenFilledWallsBoundsThatBetweenOthers) {
  const Stencil stencil = make_preset("heat", 1, {1, 1, 1}, {{"diffusivity", {1.0}}, {"dt", {0.52}}});
  StencilMatrix step(1);
  step.at(0, 0) = LongWeights(stencil.taps());
  Domain domain;
  domain.dimensions = 1;
  domain.shape = {1, 1, 5};
  domain.faces[x_axis] = {Face{BoundaryKind::filled}, Face{BoundaryKind::filled}};
  // The faces have a value: the shortest wave has its zeros there, and 1 - 4 * 0.52 of its height after a
  // step.
  EXPECT_NEAR(growth_of(step, {domain}).spectral_radius, 4 * 0.52 - 1, 1e-12);
}

TEST(SpectralRadius, WithFrozenCoefficients) {
  StepNames names;
  names.dimensions = 1;
  names.fields = {"u"};
  names.coefficients = {"c"};
  const System system = resolve_step(
      parse_step("u.next = 2*u - u.previous + (c*dt)^2*d(u, x, 2) + 0*x*t + (c > 0.5 ? 0 : step*u)"), names);
  EXPECT_FALSE(step_matrix(canonical_form(system)));
  const auto radius = [&](double c) {
    const auto matrix = step_matrix(canonical_form(frozen(system, {{c}, {}, 0.0, 0})));
    return growth_of(matrix->matrix, {1, 1, 32}).spectral_radius;
  };
  EXPECT_NEAR(radius(0.9), 1.0, 1e-12);
  EXPECT_GT(radius(1.1), 2.0);
}

}  // namespace
}  // namespace spsolve::testing
