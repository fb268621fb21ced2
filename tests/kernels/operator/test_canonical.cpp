// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/canonical.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/catalogue/presets.hpp"
#include "kernels/cpu/correlate_rows.hpp"
#include "kernels/cpu/make_tap_schedule.hpp"
#include "kernels/reference.hpp"
#include "tests/kernels/operator/example_steps.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/evaluate_canonical.hpp"
#include "tests/support/reference_step.hpp"

namespace spsolve::testing {
namespace {

using ::testing::HasSubstr;

/// Returns the largest number of operations between the state and a point of the next state.
double operations_of(const Canonical& canonical) {
  double count = 1;
  for (const CanonicalNode& node : canonical.nodes) {
    count += node.kind == NodeKind::operation ? 1.0 + static_cast<double>(node.operands.size()) : 1.0;
    for (const ChainLink& link : node.links) count += static_cast<double>(link.stencil.taps().size());
  }
  return count;
}

double largest(const SystemState<double>& state) {
  double most = 1.0;  // walls and coefficients are not above it
  for (const auto* level : {&state.now, &state.previous})
    for (const auto& field : *level)
      for (const double value : field) most = std::max(most, std::abs(value));
  return most;
}

/// Compares the canonical form in precision T with the reference after every step. The rounding error of a
/// step is relative to the values it reads times the sum of its weights, which the examples keep below 64.
template <class T>
void expect_close(const ExampleStep& example, const Canonical& canonical, const System& system,
                  const RandomProblem& problem, int steps) {
  SystemState<double> expected = problem.state;
  SystemState<T> state{{}, {}, expected.step};
  for (const auto& field : expected.now) state.now.emplace_back(field.begin(), field.end());
  for (const auto& field : expected.previous) state.previous.emplace_back(field.begin(), field.end());
  double bound = 0.0;
  for (int step = 1; step <= steps; ++step) {
    expected = reference_step(system, problem.context, expected);
    state = canonical_step(canonical, problem.context, state);
    bound =
        4.0 * bound + operations_of(canonical) * 64.0 * largest(expected) * std::numeric_limits<T>::epsilon();
    for (std::size_t field = 0; field < state.now.size(); ++field)
      for (std::size_t i = 0; i < state.now[field].size(); ++i)
        ASSERT_NEAR(state.now[field][i], expected.now[field][i], bound)
            << example.name << ", step " << step << ", field " << field << ", point " << i;
  }
}

TEST(Canonical, IsTheReferenceForAllExamplesAndWalls) {
  std::mt19937 random(3);
  for (const ExampleStep& example : example_steps()) {
    const System system = system_of(example);
    const Canonical canonical = canonical_form(system);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const RandomProblem problem(example, random, example.names.dimensions == 3 ? 5 : 9);
      expect_close<double>(example, canonical, system, problem, 4);
      expect_close<float>(example, canonical, system, problem, 2);
    }
  }
}

TEST(Canonical, IsTheReferenceExactlyWhereArithmeticIsExact) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const ExampleStep example = RandomStep(seed, seed % 3 == 0).step();
    const System system = system_of(example);
    const Canonical canonical = canonical_form(system);
    RandomProblem problem(example, random, 4);
    make_whole(problem, random);
    const auto expected = reference_step(system, problem.context, problem.state);
    const auto state = canonical_step(canonical, problem.context, problem.state);
    for (std::size_t field = 0; field < state.now.size(); ++field)
      for (std::size_t i = 0; i < state.now[field].size(); ++i)
        ASSERT_EQ(state.now[field][i], expected.now[field][i])
            << "seed " << seed << ", field " << field << ", point " << i << "\n"
            << example.step << text_of(canonical);
    ASSERT_EQ(state.previous, problem.state.now);
  }
}

/// Returns the canonical form of a step of fields u and v in 2D with the coefficients k and m; spacing and dt
/// are 1.
Canonical canonical_of(const std::string& step) {
  StepNames names;
  names.dimensions = 2;
  names.fields = {"u", "v"};
  names.coefficients = {"k", "m"};
  return canonical_form(resolve_step(parse_step(step), names));
}

std::string equation_of_u(const std::string& value) {
  const std::string text = text_of(canonical_of("u.next = " + value + "\nv.next = v"));
  const std::size_t begin = text.find("u.next = ") + 9;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Canonical, GathersWhatIsLinearWithConstantWeights) {
  EXPECT_EQ(equation_of_u("u"), "u");
  EXPECT_EQ(equation_of_u("u[0, 1]"), "u[0, 1]");
  EXPECT_EQ(equation_of_u("2*(u + 3*v[1, 0])/4 - u.previous"), "<-u.previous + 0.5*u + 1.5*v[1, 0]>");
  EXPECT_EQ(equation_of_u("d(d(u, x, at=0.5), x, at=-0.5)"), "<u[0, -1] - 2*u + u[0, 1]>");
  EXPECT_EQ(equation_of_u("mean(u, x, at=0.5)[0, -1]"), "<0.5*u[0, -1] + 0.5*u>");
  EXPECT_EQ(equation_of_u("u - u + v*0"), "0");
  EXPECT_EQ(equation_of_u("0.3*u - 0.1*u - 0.2*u + v"), "v") << "weights that cancel but for rounding";
  EXPECT_EQ(equation_of_u("u + 1e-17*v[0, 1]"), "<u + 1e-17*v[0, 1]>") << "small weights are kept";
}

TEST(Canonical, KeepsOperationsWhereWeightsVary) {
  EXPECT_EQ(equation_of_u("k*u + t*v"), "k1*u + s1*v");
  EXPECT_EQ(equation_of_u("t*u"), "s1*u");
  EXPECT_EQ(equation_of_u("t*k*u"), "s1*k1*u");
  EXPECT_EQ(equation_of_u("u/v"), "u/v");
  EXPECT_EQ(equation_of_u("u*u*u/3 + k*u"), "u*u*u/3 + k1*u");
  EXPECT_EQ(equation_of_u("u < 0 ? -u : u"), "u < 0 ? <-u> : u");
}

TEST(Canonical, AddsOtherExpressionsToLinearOnes) {
  const auto text = [](const std::string& value) {
    return text_of(canonical_of("u.next = " + value + "\nv.next = v"));
  };
  EXPECT_THAT(text("k*u + 2*u - v"), HasSubstr("n1 = k1*u\nu.next = <2*u - v + n1>\n"));
  EXPECT_THAT(text("(u + v) - k*v + (u - v)"), HasSubstr("n1 = k1*v\nu.next = <2*u - n1>\n"));
  EXPECT_THAT(text("u + 2*(u - 3*(k*u))/4"), HasSubstr("n1 = k1*u\nn2 = <u - 3*n1>\nu.next = <u + 0.5*n2>\n"))
      << "u keeps the weight 1 in u + dt*(u + ...)";
  EXPECT_THAT(text("d(u - k*u, x)"), HasSubstr("u.next = <-0.5*n2[0, -1] + 0.5*n2[0, 1]>\n"));
  EXPECT_THAT(text("u + t"), HasSubstr("u.next = u + s1\n")) << "what changes with time alone is no link";
}

TEST(Canonical, SumsBeginWithTheirFirstProduct) {
  const Canonical canonical = canonical_of("u.next = -2*u; v.next = -u - v");
  StepContext context;
  context.fields.assign(2, Domain{2, {1, 2, 2}, {}});
  context.coefficients.assign(2, std::vector<double>(4));
  const std::vector<float> zeros(4);
  const auto state = canonical_step<float>(canonical, context, {{zeros, zeros}, {zeros, zeros}, 0});
  for (const auto& field : state.now)
    for (const float value : field) EXPECT_TRUE(std::signbit(value) && value == 0) << "the sign of -2 * 0";
}

TEST(Canonical, MakesOneCoefficientOfWhatNoFieldIsIn) {
  const Canonical canonical = canonical_of("u.next = (k*2 + x)^2/m*u[0, 1] + sin(t*step + 2)*v; v.next = v");
  EXPECT_EQ(text_of(canonical),
            "k1 = (k*2 + x)^2/m  (one value per point)\n"
            "s1 = sin(t*step + 2)  (one value per step)\n"
            "u.next = k1*u[0, 1] + s1*v\n"
            "v.next = v\n");
  EXPECT_EQ(equation_of_u("1 < 2 ? k*u : v"), "k1*u");
  EXPECT_EQ(canonical_of("a = k*m + 1; u.next = a*u + a[0, 1]*u[0, 1] + k[1, 1]*m[1, 1]*v; v.next = v")
                .coefficients.size(),
            2u)
      << "a and its displacement are one; k*m is another";
  EXPECT_EQ(equation_of_u("u + k*3"), "<k1 + u>") << "a source, from which the chain starts";
  EXPECT_EQ(equation_of_u("2*(u - k) + m"), "<k1 + 2*u>");
  EXPECT_EQ(equation_of_u("u + d(k + u, x)"), "<k1 - 0.5*u[0, -1] + u + 0.5*u[0, 1]>");
  EXPECT_EQ(equation_of_u("u + t"), "u + s1") << "what changes with time is added";
  EXPECT_EQ(equation_of_u("u + d(t*u, x) + d(t, x) + laplace(3)"), "<u - 0.5*n1[0, -1] + 0.5*n1[0, 1]>");
}

TEST(Canonical, SharesDisplacedExpressions) {
  EXPECT_EQ(
      text_of(canonical_of("u.next = d(k*d(u, x, at=0.5), x, at=-0.5); v.next = v")),
      "k1 = k  (one value per point)\nn1 = k1*<-u + u[0, 1]>\nu.next = <-n1[0, -1] + n1>\nv.next = v\n");
  EXPECT_EQ(text_of(canonical_of("l = u[0, 1] - u; u.next = k*l + m*l[0, -1]; v.next = (k*l)[1, 0]")),
            "k1 = k  (one value per point)\nk2 = m  (one value per point)\nn1 = <-u + u[0, 1]>\nn2 = k1*n1\n"
            "u.next = n2 + k2*n1[0, -1]\nv.next = n2[1, 0]\n");
  EXPECT_EQ(text_of(canonical_of("u.next = (u*v)[0, 1] - u[0, -1]*v[0, -1]; v.next = u*v")),
            "n1 = u*v\nu.next = n1[0, 1] - n1[0, -1]\nv.next = n1\n");
}

TEST(Canonical, MakesProductsOfSmallPowers) {
  EXPECT_EQ(equation_of_u("v^2"), "v*v");
  EXPECT_EQ(equation_of_u("(u*v)^-2"), "1/(n1*n1)");
  EXPECT_EQ(equation_of_u("v^0.5"), "sqrt(v)");
  EXPECT_EQ(equation_of_u("v^1 + 3*pow(v, 0)"), "<3 + v>");
  EXPECT_EQ(equation_of_u("v^1.5 + v^5"), "v^1.5 + v^5");
}

TEST(Canonical, TakesAnyLengthAndAnyMixture) {
  std::string step = "u.next = u";
  for (int i = 0; i < 20000; ++i) step += i % 2 ? " + k*u" : "*v";
  const Canonical canonical = canonical_of(step + "\nv.next = v");
  EXPECT_GT(canonical.nodes.size(), 10000u);
  EXPECT_LT(text_of(canonical).size(), 100000u);
  // A sum takes time and memory in proportion to its points. If it took a copy of each partial sum, that
  // would be 60 GB.
  std::string sum = "u.next = 0*v";
  for (int i = 0; i < 40000; ++i)
    sum += (i % 2 ? " + u[" : " - u[") + std::to_string(i / 200) + "," + std::to_string(i % 200) + "]";
  const Canonical of_sum = canonical_of(sum + "\nv.next = v");
  EXPECT_EQ(of_sum.nodes[of_sum.equations[0].node].links.at(0).stencil.taps().size(), 40000u);
  // Nested displacements of shared parts make no more nodes than statements.
  std::string doubling = "a0 = u*v\n";
  for (int i = 0; i < 40; ++i) {
    const std::string a = std::string("a").append(std::to_string(i));
    doubling += std::string("a").append(std::to_string(i + 1)) + " = " + a + "*" + a + "[0, 1]\n";
  }
  EXPECT_LT(canonical_of(doubling + "u.next = a40; v.next = v").nodes.size(), 60u);
  // Sums of shared parts are refused before their weights fill the memory: there would be 2^22.
  std::string sums = "b0 = u\n";
  for (int i = 0; i < 22; ++i) {
    const std::string b = "b" + std::to_string(i), by = std::to_string(1 << i % 11);
    sums += "b" + std::to_string(i + 1) + " = " + b + " + " + b +
            (i % 2 ? "[0, " + by + "]\n" : "[" + by + ", 0]\n");
  }
  EXPECT_THROW(canonical_of(sums + "u.next = b22; v.next = v"), StatementError);
}

TEST(Canonical, RefusesWeightsThatAreTooManyOrNotFinite) {
  EXPECT_THROW(canonical_of("u.next = u[1000, 1000] + u; v.next = v"), StatementError);
  EXPECT_THROW(canonical_of("u.next = d(u, x)[1000, 1000]; v.next = v"), StatementError);
  EXPECT_THROW(canonical_of("u.next = u*1e200*1e200; v.next = v"), StatementError);
  // The statement that uses the expression is named, not the one behind which it stands.
  try {
    canonical_of("a = v*1e200*1e200; u.next = 2*u; v.next = a");
    FAIL();
  } catch (const StatementError& error) {
    EXPECT_EQ(error.statement(), 1u);
  }
}

/// Returns the weights of the equation of u, which is one chain with one link.
Stencil stencil_of_step(const std::string& step, const StepNames& names) {
  const Canonical canonical = canonical_form(resolve_step(parse_step(step), names));
  const CanonicalNode& node = canonical.nodes[canonical.equations[0].node];
  EXPECT_EQ(node.kind, NodeKind::chain);
  EXPECT_EQ(node.links.size(), 1u);
  EXPECT_FALSE(node.start);
  return node.links[0].stencil;
}

TEST(Canonical, HasTheWeightsOfPresets) {
  StepNames names;
  names.fields = {"u"};
  names.spacing = {0.5, 0.25, 2.0};
  names.dt = 0.03125;  // powers of two: products do not depend on their order
  for (const int dimensions : {1, 2, 3}) {
    names.dimensions = dimensions;
    EXPECT_EQ(
        stencil_of_step("u.next = u + dt*(0.25*laplace(u))", names).taps(),
        make_preset("heat", dimensions, names.spacing, {{"diffusivity", {0.25}}, {"dt", {names.dt}}}).taps());
    // The weights of order 4 have quotients of 3: they agree up to rounding.
    const Stencil fourth = stencil_of_step("u.next = u + dt*0.3*laplace(u, order=4)", names);
    const Stencil preset = make_preset("heat", dimensions, names.spacing,
                                       {{"diffusivity", {0.3}}, {"dt", {names.dt}}, {"order", {4.0}}});
    ASSERT_EQ(fourth.taps().size(), preset.taps().size());
    for (std::size_t i = 0; i < preset.taps().size(); ++i) {
      EXPECT_EQ(fourth.taps()[i].offset, preset.taps()[i].offset);
      EXPECT_NEAR(fourth.taps()[i].weight, preset.taps()[i].weight, 16 * 0x1p-52);
    }
  }
  names.dimensions = 2;
  EXPECT_EQ(stencil_of_step("u.next = u + dt*(0.5*laplace(u) - 1.5*d(u, y) + 0.75*d(u, x))", names).taps(),
            make_preset("advection-diffusion", 2, names.spacing,
                        {{"diffusivity", {0.5}}, {"velocity", {1.5, -0.75}}, {"dt", {names.dt}}})
                .taps());
}

TEST(Canonical, HasTheBitsOfTheSameWeightsInAStencil) {
  StepNames names;
  names.dimensions = 2;
  names.fields = {"u"};
  const std::vector<double> weights{0.1, 0.2, -0.3, 0.7, 1.0 / 3, 0.05};
  const Stencil stencil({1, 2, 3}, weights, {0, 1, 1});
  names.stencils.emplace("w", stencil);
  EXPECT_EQ(stencil_of_step("u.next = correlate(w, u)", names).taps(), stencil.taps());
  EXPECT_EQ(
      stencil_of_step(
          "u.next = 0.1*u[-1, -1] + 0.2*u[-1, 0] + 0.05*u[0, 1] - 0.3*u[-1, 1] + u*(1/3) + u[0, -1]*0.7",
          names)
          .taps(),
      stencil.taps());
}

/// Returns a step of a periodic row by the loops of the CPU unit.
template <class T>
std::vector<T> correlated_row(const Stencil& stencil, const std::vector<T>& u) {
  const auto points = static_cast<std::int64_t>(u.size()), radius = stencil.radius()[x_axis];
  std::vector<T> padded_row, out(u.size());
  for (std::int64_t x = -radius; x < points + radius; ++x) padded_row.push_back(u[wrap(x, points)]);
  std::vector<Index3> offsets;
  std::vector<const T*> inputs;
  std::vector<double> weights;
  for (const Tap& tap : stencil.taps()) {
    offsets.push_back(tap.offset);
    inputs.push_back(padded_row.data() + radius + tap.offset[x_axis]);
    weights.push_back(tap.weight);
  }
  const TapSchedule<T> schedule = converted<T>(make_tap_schedule(offsets, weights, 1));
  correlate_rows_widest<T, T>({points, &schedule, inputs.data(), {out.data()}});
  return out;
}

template <class T>
void expect_bits_of_cpu_unit() {
  StepNames names;
  names.dimensions = 1;
  names.fields = {"u"};
  const Canonical canonical = canonical_form(
      resolve_step(parse_step("u.next = u + 0.1*d(u, x, 2, order=6) - 0.3*d(u, x) + u[3]/7"), names));
  Domain domain;
  domain.dimensions = 1;
  domain.shape = {1, 1, 101};
  StepContext context;
  context.fields = {domain};
  std::mt19937 random(1);
  std::vector<T> u;
  for (int i = 0; i < 101; ++i)
    u.push_back(static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random)));
  EXPECT_EQ(canonical_step(canonical, context, SystemState<T>{{u}, {u}}).now[0],
            correlated_row(canonical.nodes[canonical.equations[0].node].links[0].stencil, u));
}

TEST(Canonical, OfALinearEquationHasTheBitsOfTheCpuUnit) {
  expect_bits_of_cpu_unit<double>();
  expect_bits_of_cpu_unit<float>();
}

}  // namespace
}  // namespace spsolve::testing
