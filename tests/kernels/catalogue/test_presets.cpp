// SPDX-License-Identifier: Apache-2.0
#include "kernels/catalogue/presets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "kernels/reference.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::array<double, 3> unit_spacing{1.0, 1.0, 1.0};

/// Returns sum_k w[k] k_axis^power.
double moment(const Stencil& stencil, int axis, int power) {
  double sum = 0.0;
  for (const Tap& tap : stencil.taps())
    sum += tap.weight * std::pow(static_cast<double>(tap.offset[axis]), power);
  return sum;
}

/// Bounds the rounding error of a moment: a few roundings per weight, and one per tap in the sum.
double moment_bound(const Stencil& stencil, int axis, int power) {
  double sum = 0.0;
  for (const Tap& tap : stencil.taps())
    sum += std::abs(tap.weight) * std::pow(std::abs(static_cast<double>(tap.offset[axis])), power);
  return epsilon * sum * static_cast<double>(stencil.taps().size() + 8);
}

std::map<Index3, double> by_offset(const Stencil& stencil) {
  std::map<Index3, double> weights;
  for (const Tap& tap : stencil.taps()) weights[tap.offset] = tap.weight;
  return weights;
}

std::string parameter_of_error(std::string_view name, int dimensions, const PresetValues& values) {
  try {
    make_preset(name, dimensions, unit_spacing, values);
  } catch (const PresetError& error) {
    return error.parameter;
  }
  return "no error";
}

TEST(HeatPreset, IsTheFivePointStencil) {
  // dt D / h^2 is 1/8 on y and 1/32 on x, both exact in binary.
  const Stencil stencil = make_preset("heat", 2, {1.0, 0.5, 1.0}, {{"diffusivity", {0.25}}, {"dt", {0.125}}});
  const std::vector<Tap> wanted{{{0, -1, 0}, 0.125},
                                {{0, 0, -1}, 0.03125},
                                {{0, 0, 0}, 0.6875},
                                {{0, 0, 1}, 0.03125},
                                {{0, 1, 0}, 0.125}};
  EXPECT_EQ(stencil.taps(), wanted);
}

TEST(HeatPreset, TakesDiffusivityPerAxisSlowestFirst) {
  const auto weights =
      by_offset(make_preset("heat", 3, unit_spacing, {{"diffusivity", {0.5, 0.25, 0.125}}, {"dt", {0.25}}}));
  EXPECT_EQ(weights.at({1, 0, 0}), 0.125);
  EXPECT_EQ(weights.at({0, 1, 0}), 0.0625);
  EXPECT_EQ(weights.at({0, 0, 1}), 0.03125);
  EXPECT_EQ(weights.size(), 7u);
}

TEST(HeatPreset, DropsAxesWithoutDiffusion) {
  const Stencil stencil = make_preset("heat", 2, unit_spacing, {{"diffusivity", {0.0, 1.0}}, {"dt", {0.25}}});
  EXPECT_EQ(stencil.radius(), (Index3{0, 0, 1}));
}

// The moments of the weights must be the Taylor coefficients of the step: u' = u + dt (D u_xx - v u_x) up to
// the order.
TEST(AdvectionDiffusionPreset, HasTheMomentsOfItsOrder) {
  const double dt = 0.013, pi_ish = 3.1;
  const std::array<double, 3> spacing{0.7, 0.3, 1.9};
  const std::vector<double> diffusivity{0.02, 0.5, 0.11}, velocity{-0.4, 0.9, pi_ish};
  for (const double order : {2.0, 4.0}) {
    const Stencil stencil =
        make_preset("advection-diffusion", 3, spacing,
                    {{"diffusivity", diffusivity}, {"velocity", velocity}, {"dt", {dt}}, {"order", {order}}});
    for (int axis = 0; axis < 3; ++axis) {
      const double h = spacing[axis];
      const auto bound = [&](int power) { return moment_bound(stencil, axis, power); };
      EXPECT_NEAR(moment(stencil, axis, 0), 1.0, bound(0));
      EXPECT_NEAR(moment(stencil, axis, 1), -dt * velocity[axis] / h, bound(1));
      EXPECT_NEAR(moment(stencil, axis, 2), 2.0 * dt * diffusivity[axis] / (h * h), bound(2));
      if (order == 2.0) continue;
      EXPECT_NEAR(moment(stencil, axis, 3), 0.0, bound(3));
      EXPECT_NEAR(moment(stencil, axis, 4), 0.0, bound(4));
    }
  }
}

TEST(AdvectionDiffusionPreset, CarriesAlongTheVelocity) {
  // With velocity to the right, the value comes from the left.
  const auto weights = by_offset(make_preset("advection-diffusion", 1, unit_spacing,
                                             {{"diffusivity", {0.25}}, {"velocity", {0.5}}, {"dt", {1.0}}}));
  EXPECT_EQ(weights.at({0, 0, -1}), 0.5);
  EXPECT_EQ(weights.count({0, 0, 1}), 0u);
}

TEST(HeatPreset, DampsSineModesByItsSymbol) {
  const double s = 0.2;  // dt D / h^2
  const Stencil stencil = make_preset("heat", 1, unit_spacing, {{"diffusivity", {s}}, {"dt", {1.0}}});
  const auto symbols = sampled_symbol(stencil, {1, 1, 12});
  for (std::size_t m = 0; m < symbols.size(); ++m) {
    const double sine = std::sin(std::acos(-1.0) * static_cast<double>(m) / 12.0);
    EXPECT_LE(std::abs(symbols[m] - (1.0 - 4.0 * s * sine * sine)), 16 * epsilon);
  }
}

TEST(BoxFilter, IsTheMean) {
  const Stencil stencil = make_preset("box-filter", 2, unit_spacing, {{"radius", {1.0, 2.0}}});
  EXPECT_EQ(stencil.taps().size(), 15u);
  EXPECT_EQ(stencil.radius(), (Index3{0, 1, 2}));
  for (const Tap& tap : stencil.taps()) EXPECT_EQ(tap.weight, 1.0 / 15.0);
  EXPECT_EQ(make_preset("box-filter", 3, unit_spacing, {}).taps().size(), 27u);
  EXPECT_EQ(make_preset("box-filter", 1, unit_spacing, {{"radius", {0.0}}}).taps().size(), 1u);
}

TEST(BenchmarkShapes, HaveTheirTapsAndRadius) {
  struct Shape {
    const char* name;
    int dimensions;
    std::size_t taps;
    Index3 radius;
  };
  for (const Shape& shape :
       {Shape{"1d1r", 1, 3, {0, 0, 1}}, Shape{"1d2r", 1, 5, {0, 0, 2}}, Shape{"star2d1r", 2, 5, {0, 1, 1}},
        Shape{"box2d1r", 2, 9, {0, 1, 1}}, Shape{"star2d3r", 2, 13, {0, 3, 3}},
        Shape{"box2d3r", 2, 49, {0, 3, 3}}, Shape{"star3d1r", 3, 7, {1, 1, 1}},
        Shape{"box3d1r", 3, 27, {1, 1, 1}}, Shape{"star1d3r", 1, 7, {0, 0, 3}},
        Shape{"box3d12r", 3, 15625, {12, 12, 12}}, Shape{"random2d7r", 2, 225, {0, 7, 7}}}) {
    const Stencil stencil = make_preset(shape.name, shape.dimensions, unit_spacing, {});
    EXPECT_EQ(stencil.taps().size(), shape.taps) << shape.name;
    EXPECT_EQ(stencil.radius(), shape.radius) << shape.name;
    EXPECT_EQ(preset_dimensions(shape.name), shape.dimensions);
  }
}

TEST(BenchmarkShapes, AreMirrorSymmetricPositiveMeansThatDoNotGrow) {
  for (const auto& [name, dimensions] : std::map<std::string, int>{
           {"1d2r", 1}, {"star2d3r", 2}, {"box2d3r", 2}, {"star3d1r", 3}, {"box3d1r", 3}}) {
    const Stencil stencil = make_preset(name, dimensions, unit_spacing, {});
    const auto weights = by_offset(stencil);
    for (const auto& [offset, weight] : weights) {
      EXPECT_GT(weight, 0.0);
      for (int axis = 0; axis < 3; ++axis) {
        Index3 reflected = offset;
        reflected[axis] = -reflected[axis];
        EXPECT_EQ(weights.at(reflected), weight) << name;
      }
    }
    const double bound = epsilon * static_cast<double>(stencil.taps().size() + 2);
    EXPECT_NEAR(moment(stencil, 2, 0), 1.0, bound) << name;
    EXPECT_LE(growth_factor(stencil, Index3{9, 8, 10}), 1.0 + bound) << name;
  }
}

TEST(BenchmarkShapes, BoxesAreNotSeparable) {
  const auto weights = by_offset(make_preset("box2d1r", 2, unit_spacing, {}));
  EXPECT_GT(
      std::abs(weights.at({0, 0, 0}) * weights.at({0, 1, 1}) - weights.at({0, 0, 1}) * weights.at({0, 1, 0})),
      0.01 / 81);
}

TEST(BenchmarkShapes, RandomWeightsAreTheSameEverywhereAndOfFullRank) {
  const Stencil stencil = make_preset("random2d7r", 2, unit_spacing, {});
  EXPECT_NEAR(moment(stencil, 2, 0), 1.0, epsilon * 227);
  const auto weights = by_offset(stencil);
  // The numbers are the first two of std::mt19937.
  const auto value = [](double number) { return 0.1 + 0.9 * 0x1p-32 * number; };
  EXPECT_NEAR(weights.at({0, -7, -7}) / weights.at({0, -7, -6}), value(3499211612.0) / value(581869302.0),
              4 * epsilon);
  EXPECT_EQ(separate(stencil, 1e-6).terms.size(), 15u);
}

TEST(FindPreset, KnowsShapesOfAnyRadiusAndNothingElse) {
  for (const char* name : {"heat", "advection-diffusion", "box-filter", "1d7r", "star1d4r", "box2d17r",
                           "star3d49r", "random3d2r"})
    EXPECT_TRUE(find_preset(name)) << name;
  for (const char* name : {"", "heat ", "Heat", "star", "star2d", "star4d1r", "star0d1r", "star2d0r",
                           "star2d01r", "star2d-1r", "star2d+1r", "star2d1", "star2d1rr", "2d1r", "1dr",
                           "d1r", "box3d50r", "box1d99999999999999999999r", "random"})
    EXPECT_FALSE(find_preset(name)) << name;
  for (const std::string& name : preset_names()) EXPECT_TRUE(find_preset(name)) << name;
}

TEST(MakePreset, NamesTheParameterThatIsWrong) {
  const PresetValues good{{"diffusivity", {1.0}}, {"velocity", {1.0, 2.0}}, {"dt", {0.1}}};
  const auto with = [&](const char* name, std::vector<double> value) {
    PresetValues values = good;
    values[name] = std::move(value);
    return parameter_of_error("advection-diffusion", 2, values);
  };
  EXPECT_EQ(parameter_of_error("advection-diffusion", 2, good), "no error");
  EXPECT_EQ(with("dt", {0.0}), "dt");
  EXPECT_EQ(with("dt", {-1.0}), "dt");
  EXPECT_EQ(with("dt", {0.1, 0.2}), "dt");
  EXPECT_EQ(with("dt", {std::nan("")}), "dt");
  EXPECT_EQ(with("diffusivity", {-1.0}), "diffusivity");
  EXPECT_EQ(with("diffusivity", {1.0, 1.0, 1.0}), "diffusivity");
  EXPECT_EQ(with("diffusivity", {}), "diffusivity");
  EXPECT_EQ(with("velocity", {1.0}), "velocity");
  EXPECT_EQ(with("order", {3.0}), "order");
  EXPECT_EQ(with("radius", {1.0}), "radius");
  EXPECT_EQ(with("dt", {1e308}), "") << "a weight that overflows";
  EXPECT_EQ(parameter_of_error("box-filter", 1, {{"radius", {1.5}}}), "radius");
  EXPECT_EQ(parameter_of_error("box-filter", 1, {{"radius", {-1.0}}}), "radius");
  EXPECT_EQ(parameter_of_error("box-filter", 3, {{"radius", {1e300}}}), "radius");
  EXPECT_EQ(parameter_of_error("star2d1r", 3, {}), "");
  EXPECT_EQ(parameter_of_error("star2d1r", 2, {{"dt", {0.1}}}), "dt");
  EXPECT_EQ(parameter_of_error("unheard-of", 2, {}), "");
}

TEST(MakePreset, MissesExactlyTheRequiredParameters) {
  for (const Preset& preset : parameter_presets()) {
    PresetValues all;
    for (const PresetParameter& parameter : preset.parameters)
      all[std::string(parameter.name)] = {parameter.name == "order" ? 2.0 : 0.25};
    if (all.contains("radius")) all["radius"] = {1.0};
    ASSERT_EQ(parameter_of_error(preset.name, 1, all), "no error") << preset.name;
    for (const PresetParameter& parameter : preset.parameters) {
      PresetValues rest = all;
      rest.erase(std::string(parameter.name));
      EXPECT_EQ(parameter_of_error(preset.name, 1, rest),
                parameter.required ? std::string(parameter.name) : "no error");
    }
  }
}

TEST(LargestStableDt, OfHeatIsTheTextbookLimit) {
  const std::array<double, 3> spacing{1.0, 0.5, 0.25};
  const PresetValues values{{"diffusivity", {2.0}}, {"dt", {1e-3}}};
  // The limit is 1 / (2 sum D/h^2) for order 2; for order 4 the largest eigenvalue of -(second difference) is
  // 16/3 instead of 4.
  const double sum = 2.0 / 0.25 + 2.0 / 0.0625;
  const Index3 shape{1, 16, 32};
  // The shortest wave sets the limit. Its symbol - 1 = -4 dt sum is known to an epsilon per tap.
  const double bound = 9 * epsilon / (4e-3 * sum);
  EXPECT_NEAR(largest_stable_dt(make_preset("heat", 2, spacing, values), 1e-3, shape) * 2.0 * sum, 1.0,
              bound);
  PresetValues fourth = values;
  fourth["order"] = {4.0};
  EXPECT_NEAR(largest_stable_dt(make_preset("heat", 2, spacing, fourth), 1e-3, shape) * 8.0 / 3.0 * sum, 1.0,
              bound);
}

TEST(LargestStableDt, SeparatesStableFromGrowingSteps) {
  for (const double velocity : {0.5, 3.0, 20.0}) {
    const Index3 shape{1, 1, 101};
    const auto step = [&](double dt) {
      return make_preset("advection-diffusion", 1, unit_spacing,
                         {{"diffusivity", {0.7}}, {"velocity", {velocity}}, {"dt", {dt}}});
    };
    const double dt = largest_stable_dt(step(0.01), 0.01, shape);
    // lambda is known to a few epsilon of the 1 in symbol = 1 + 0.01 lambda, where |lambda| is at least that
    // of the longest wave.
    const double smallest_change = 0.01 * 0.7 * 2.0 * (1.0 - std::cos(2.0 * std::acos(-1.0) / 101.0));
    const double rounding = 8 * epsilon / smallest_change;
    EXPECT_LE(growth_factor(step(dt), shape), 1.0 + rounding);
    EXPECT_GT(growth_factor(step(1.01 * dt), shape), 1.0 + rounding);
    // The continuum limits are h^2 / (2 D) and 2 D / v^2. Only long waves approach the latter.
    EXPECT_LE(std::min(1.0 / 1.4, 1.4 / (velocity * velocity)), dt * (1.0 + rounding));
  }
}

TEST(LargestStableDt, IsZeroWithoutDiffusionAndInfiniteWithoutChange) {
  const auto of = [](double velocity) {
    return largest_stable_dt(make_preset("advection-diffusion", 1, unit_spacing,
                                         {{"diffusivity", {0.0}}, {"velocity", {velocity}}, {"dt", {0.1}}}),
                             0.1, Index3{1, 1, 64});
  };
  EXPECT_EQ(of(1.0), 0.0);
  EXPECT_EQ(of(0.0), std::numeric_limits<double>::infinity());
}

/// Holds a step between walls of value 0 as a matrix, row by row.
struct StepMatrix {
  std::size_t n;
  std::vector<double> entries;

  StepMatrix(const Domain& domain, const Stencil& stencil)
      : n(static_cast<std::size_t>(volume(domain.shape))), entries(n * n) {
    for (std::size_t column = 0; column < n; ++column) {
      std::vector<double> unit(n);
      unit[column] = 1.0;
      const std::vector<double> next = reference_step(domain, stencil, unit, nullptr);
      for (std::size_t row = 0; row < n; ++row) entries[row * n + column] = next[row];
    }
  }
  double norm() const {
    return std::sqrt(std::inner_product(entries.begin(), entries.end(), entries.begin(), 0.0));
  }
  /// Doubles the number of steps.
  void square() {
    std::vector<double> product(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) product[i * n + j] += entries[i * n + k] * entries[k * n + j];
    entries = std::move(product);
  }
};

/// Returns the amplification by 2^14 steps over that by half of them.
double late_growth(const Domain& domain, const Stencil& stencil) {
  StepMatrix step(domain, stencil);
  double half = step.norm();
  for (int doubling = 0; doubling < 14; ++doubling) {
    half = step.norm();
    if (!(half < 1e100)) return std::numeric_limits<double>::infinity();
    if (half < 1e-100) return 0.0;
    step.square();
  }
  return step.norm() / half;
}

/// Returns a domain of at most 48 points, of any shape and walls. Fluxes and robin walls, which fill their
/// ghost points, are not among them: the program looks for the growth of equations there (growth_of()).
Domain random_domain(std::mt19937& random) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  Domain domain;
  domain.dimensions = 1 + below(3);
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    const std::int64_t others = volume(domain.shape);
    domain.shape[axis] = 1 + below(static_cast<int>(std::min<std::int64_t>(12, 48 / others)));
    const auto face = [&](int kind) { return Face{static_cast<BoundaryKind>(kind), 0.0}; };
    if (below(4) > 0) domain.faces[axis] = {face(1 + below(3)), face(1 + below(3))};
  }
  return domain;
}

std::string text_of(const Domain& domain) {
  std::string text;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    text += std::to_string(domain.shape[axis]) + " " + std::string(to_string(domain.faces[axis][low].kind)) +
            "-" + std::string(to_string(domain.faces[axis][high].kind)) + " ";
  return text;
}

TEST(LargestStableDt, IsStableBetweenAnyWalls) {
  std::mt19937 random(48);
  std::uniform_real_distribution<double> number(0.2, 2.0), sign(-1.0, 1.0);
  int unlimited = 0;
  for (int i = 0; i < 400; ++i) {
    const Domain domain = random_domain(random);
    PresetValues values{{"diffusivity", {}}, {"dt", {1e-3}}};
    std::array<double, 3> spacing = unit_spacing;
    for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
      values["diffusivity"].push_back(number(random));
      spacing[axis] = number(random);
    }
    const bool carried = i % 3 == 0;
    if (carried)
      for (int axis = domain.first_axis(); axis < axis_count; ++axis)
        values["velocity"].push_back(4.0 * sign(random));
    else if (i % 3 == 1)
      values["order"] = {4.0};
    const char* preset = carried ? "advection-diffusion" : "heat";
    const auto step = [&](double dt) {
      values["dt"] = {dt};
      return make_preset(preset, domain.dimensions, spacing, values);
    };
    const double dt = largest_stable_dt(step(1e-3), 1e-3, domain);
    if (dt == 0.0) {  // a field that a velocity presses against a neumann wall
      EXPECT_GT(late_growth(domain, step(1e-3)), 1.0) << text_of(domain);
      EXPECT_GT(growth_factor(step(1e-3), domain), 1.0) << text_of(domain);
      EXPECT_TRUE(carried);
      continue;
    }
    if (std::isinf(dt)) {
      ++unlimited;
      EXPECT_LE(late_growth(domain, step(100.0)), 1.0 + 1e-9) << text_of(domain);
      continue;
    }
    // The limit is known to some epsilon / (dt lambda) with lambda dt >= 1e-3 for the wave that sets it.
    const double rounding = 1e3 * 64 * epsilon;
    EXPECT_LE(late_growth(domain, step(dt * (1.0 - rounding))), 1.0 + 1e-9)
        << preset << " " << i % 3 << " " << text_of(domain) << dt;
    EXPECT_LE(growth_factor(step(dt), domain), 1.0 + rounding) << text_of(domain);
    // Second differences between walls have the sampled waves, and no others.
    if (i % 3 == 2) {
      EXPECT_GT(late_growth(domain, step(1.02 * dt)), 10.0) << text_of(domain);
      EXPECT_GT(growth_factor(step(1.02 * dt), domain), 1.0 + 1e-3) << text_of(domain);
    }
  }
  EXPECT_GT(unlimited, 1);  // one layer of points between neumann walls, or periodic
}

TEST(LargestStableDt, OfLongAxesIsFoundBetweenTheSamples) {
  // A wave of intermediate length grows first; 3D grids are sampled at 32 waves per axis.
  const PresetValues values{{"diffusivity", {0.02}}, {"velocity", {3.0, 2.0, 1.0}}, {"dt", {1e-4}}};
  const auto step = make_preset("advection-diffusion", 3, unit_spacing, values);
  const Domain domain = periodic_domain({61, 67, 71});
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t z = 0; z < 61; ++z)
    for (std::int64_t y = 0; y < 67; ++y)
      for (std::int64_t x = 0; x <= 35; ++x) {
        const auto theta = [](std::int64_t m, double n) {
          return 2.0 * std::acos(-1.0) * static_cast<double>(m) / n;
        };
        const std::complex<double> change = symbol_at(step, {theta(z, 61), theta(y, 67), theta(x, 71)}) - 1.0;
        if (z || y || x) least = std::min(least, -2.0 * 1e-4 * change.real() / std::norm(change));
      }
  EXPECT_NEAR(largest_stable_dt(step, 1e-4, domain) / least, 1.0, 1e-6);
}

}  // namespace
}  // namespace spsolve
