// SPDX-License-Identifier: Apache-2.0
// These tests check strides of equations with two time levels. Their error must stay within the bound, they
// must have the same bits on any number of ranks, and a run that continues from a checkpoint must have the
// bits of a run that never stopped.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#ifdef SPSOLVE_CUDA
#include "kernels/cuda/scalar/march_tile.hpp"
#endif
#include "kernels/operator/canonical.hpp"
#include "solver/block.hpp"
#include "solver/plan/plan.hpp"
#include "solver/plan/stride_error.hpp"
#include "solver/plan/strided_equation.hpp"
#include "tests/kernels/operator/example_steps.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/reference_step.hpp"
#include "tests/support/wall_reflections.hpp"

namespace spsolve {
namespace {

using Values = std::vector<double>;

/// Makes a stable equation u.next = S*u - q u.previous on a small grid, with walls that have images.
class Wave {
 public:
  /// Waves of higher seeds have one or two dimensions and few weights, so that they are quick to emulate.
  static constexpr std::uint64_t first_quick_seed = 60;

  /// `larger` is the number of additional points along the last axis.
  explicit Wave(std::uint64_t seed, std::int64_t larger = 0)
      : is_quick_(seed >= first_quick_seed), random_(seed) {
    const int dimensions = 1 + below(is_quick_ ? 2 : 3), radius = pick_equation(dimensions);
    domain_.dimensions = dimensions;
    steps = dimensions == 3 ? 3 : 3 + below(4);
    const int most = dimensions == 1 ? 60 : dimensions == 2 ? 9 : 4;
    for (int axis = domain_.first_axis(); axis < axis_count; ++axis) {
      domain_.shape[axis] = steps * radius + below(most) + 1 + (axis == x_axis ? larger : 0);
      if (below(3) == 0) continue;
      for (Face& face : domain_.faces[axis])
        face.kind = below(3) == 0             ? BoundaryKind::value
                    : radius == 1 && below(2) ? BoundaryKind::dirichlet
                                              : BoundaryKind::neumann;
    }
    for (Values* values : {&now, &previous}) {
      values->resize(static_cast<std::size_t>(domain_.box().points()));
      for (double& value : *values) value = static_cast<float>(uniform(-1, 1));
    }
    if (below(2)) previous = now;  // at rest
  }

  Problem problem(Precision precision) const {
    Domain walls = domain_;
    const std::vector<FilledFace> filled = testing::fill_value_faces(walls);
    return system_problem(
        std::make_shared<const Equations>(canonical_form(testing::system_of(example_)),
                                          std::vector<Domain>{walls}, example_.names.dt, filled),
        precision);
  }
  /// Returns the states of `count` steps in double, the first one included.
  std::vector<Values> reference(int count) const {
    StepContext context;
    context.fields = {domain_};
    context.dt = example_.names.dt;
    SystemState<double> state{{now}, {previous}, 0};
    std::vector<Values> states{now};
    for (int step = 0; step < count; ++step) {
      state = reference_step(testing::system_of(example_), context, state);
      states.push_back(state.now[0]);
    }
    return states;
  }
  std::string describe() const {
    return example_.step + ", " + std::to_string(domain_.dimensions) + "D, " + std::to_string(steps) +
           " steps per stride";
  }

  int dimensions() const { return domain_.dimensions; }

  Values now, previous;
  int steps = 3;

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  double uniform(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  /// Chooses the equation; returns its radius. A wave of the symbol s is stable if |s| <= 1 + q, as s is
  /// real.
  int pick_equation(int dimensions) {
    example_.names.dimensions = dimensions;
    example_.names.fields = {"u"};
    const int order = below(3) == 0 && dimensions < (is_quick_ ? 2 : 3) ? 8 : 2;
    const double q = std::array{1.0, 1.0, 0.98, 0.6}[static_cast<std::size_t>(below(4))];
    // The symbol of -laplace is at most 4 per axis, and 6.502 with order 8.
    const double largest = dimensions * (order == 8 ? 6.502 : 4.0);
    const double courant = uniform(0.1, 0.95) * 2 * (1 + q) / largest;
    example_.names.constants = {{"a", courant}, {"q", q}};
    example_.step = "u.next = (1 + q)*u - q*u.previous + a*laplace(u, order=" + std::to_string(order) + ")";
    return order / 2;
  }

  bool is_quick_;
  std::mt19937_64 random_;
  testing::ExampleStep example_{"wave", {}, "", true};
  Domain domain_;
};

double norm(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double largest_norm(const std::vector<Values>& states) {
  double largest = 0;
  for (const Values& state : states) largest = std::max(largest, norm(state));
  return largest;
}

void expect_close(const Values& found, const Values& expected, double bound, int step) {
  Values error = found;
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= expected[i];
  ASSERT_LE(norm(error), bound) << "step " << step;
}

/// Returns every method that takes strides of a problem on a device.
std::vector<Method> methods_for(const Problem& problem, const DeviceModel& device, int steps) {
  std::vector<Method> methods;
  for (const UnitKind unit : {UnitKind::scalar, UnitKind::tensor, UnitKind::sparse_tensor}) {
    PlanRequest request;
    request.unit = unit;
    request.fuse = steps;
    request.strided = true;
    request.unpromised = true;
    try {
      for (const Candidate& candidate : make_plan(problem, device, request).candidates)
        methods.push_back(candidate);
    } catch (const Error&) {  // there is no kernel
    }
  }
  return methods;
}

class Strides : public testing::OnDevice {
 protected:
  DeviceModel device() const { return on_gpus ? nominal_gpu() : nominal_cpu(); }
  std::unique_ptr<Block> block_of(const Communicator& communicator, const Wave& wave, const Problem& problem,
                                  const Method& method, Backend& by) const {
    const Index3 ranks = min_surface_rank_grid(problem.domain.shape, communicator.size(), problem.radius());
    auto block = std::make_unique<Block>(communicator, problem, Decomposition(problem.domain.shape, ranks),
                                         method, by);
    set(*block, problem, wave.now, wave.previous, 0);
    return block;
  }
  static void set(Block& block, const Problem& problem, const Values& now, const Values& previous,
                  std::int64_t step) {
    block.set_state(testing::values_of(problem.domain, now), 0, step);
    block.set_previous(testing::values_of(problem.domain, previous), 0);
  }
  static Values now_of(const Communicator& communicator, const Problem& problem, Block& block) {
    return testing::gathered(communicator, problem.domain, block.state());
  }
  static Values previous_of(const Communicator& communicator, const Problem& problem, Block& block) {
    return testing::gathered(communicator, problem.domain,
                             block.view_previous(0).scan({1, problem.precision}).copy->host_field());
  }
  /// Holds the layouts that CPUs emulate.
  const std::set<std::pair<UnitKind, std::optional<Layout>>> emulated_ways{
      {UnitKind::tensor, Layout::strided_swap},      {UnitKind::tensor, Layout::morph},
      {UnitKind::tensor, Layout::dual_tessellation}, {UnitKind::sparse_tensor, Layout::strided_swap},
      {UnitKind::sparse_tensor, Layout::morph},      {UnitKind::sparse_tensor, Layout::separable}};
  /// Returns the lengths of three strides, two single steps and two strides.
  static std::vector<int> launches(int steps) { return {steps, steps, steps, 1, 1, steps, steps}; }
};

TEST_P(Strides, StayWithinTheirBoundOnAnyDecomposition) {
  const Communicator self(MPI_COMM_SELF);
  std::vector<testing::TestBackend> alone;
  if (!on_gpus) alone.push_back(testing::cpu_backend(self));
  const std::uint64_t seeds = on_gpus ? 3 : world.size() == 1 ? 360 : 30;
  std::uint64_t compared = 0;
  std::set<std::pair<UnitKind, std::optional<Layout>>> ways;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Wave wave(seed);
    const int count = 5 * wave.steps + 2;
    const std::vector<Values> expected = wave.reference(count);
    const double largest = largest_norm(expected);
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32}) {
      const Problem problem = wave.problem(precision);
      const TwoLevelEquation equation = std::get<TwoLevelEquation>(strided_equation(problem));
      const std::vector<Method> methods = methods_for(problem, device(), wave.steps);
      for (std::size_t i = 0; i < methods.size(); ++i) {
        if (i != seed % methods.size() && !on_gpus) continue;  // emulation is slow
        const Method& method = methods[i];
        SCOPED_TRACE(wave.describe() + ", " + describe(method) + ", " + std::string(to_string(precision)) +
                     ", seed " + std::to_string(seed));
        const auto block = block_of(world, wave, problem, method, backend());
        for (const int steps : launches(wave.steps)) block->launch(steps);
        const Values found = now_of(world, problem, *block), before = previous_of(world, problem, *block);
        const double bound =
            largest * strided_error(equation, method, precision, {count, 3 * wave.steps + 2});
        ASSERT_NO_FATAL_FAILURE(expect_close(found, expected.back(), bound, count));
        ASSERT_NO_FATAL_FAILURE(
            expect_close(before, expected[static_cast<std::size_t>(count - 1)], bound, count - 1));
        ++compared;
        ways.emplace(method.unit, method.layout);
        if (alone.empty()) continue;
        const auto whole = block_of(self, wave, problem, method, *alone.front().backend);
        for (const int steps : launches(wave.steps)) whole->launch(steps);
        ASSERT_EQ(now_of(self, problem, *whole), found);
      }
    }
  }
  // Some walls have no reflections, and some weights no operand.
  EXPECT_GE(compared, on_gpus ? 6 : 5 * seeds / 3);
  if (!on_gpus) {
    EXPECT_EQ(ways, emulated_ways);
  }
}

/// Errors accumulate over hundreds of launches, most where nothing is damped.
TEST_P(Strides, StayWithinTheirBoundInLongRuns) {
  constexpr int launches = 300;
  int equations = 0;
  const int wanted = on_gpus ? 1 : 6;  // GPUs compile a kernel for each method
  for (std::uint64_t seed = Wave::first_quick_seed; equations < wanted; ++seed) {
    const Wave wave(seed);
    if (wave.dimensions() > 1) continue;
    const int count = launches * wave.steps;
    const std::vector<Values> expected = wave.reference(count);
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32}) {
      const Problem problem = wave.problem(precision);
      const TwoLevelEquation equation = std::get<TwoLevelEquation>(strided_equation(problem));
      const std::vector<Method> methods = methods_for(problem, device(), wave.steps);
      equations += precision == Precision::fp64 && !methods.empty();
      for (const Method& method : methods) {
        SCOPED_TRACE(wave.describe() + ", " + describe(method) + ", " + std::string(to_string(precision)) +
                     ", seed " + std::to_string(seed));
        const auto block = block_of(world, wave, problem, method, backend());
        for (int launch = 0; launch < launches; ++launch) block->launch(wave.steps);
        const double bound =
            largest_norm(expected) * strided_error(equation, method, precision, {count, count});
        ASSERT_NO_FATAL_FAILURE(expect_close(now_of(world, problem, *block), expected.back(), bound, count));
      }
    }
  }
}

TEST_P(Strides, GoOnFromACheckpointWithTheSameBits) {
  Wave wave(5);
  const Problem problem = wave.problem(Precision::fp32);
  const std::vector<Method> methods = methods_for(problem, device(), wave.steps);
  ASSERT_FALSE(methods.empty());
  for (const Method& method : methods) {
    SCOPED_TRACE(describe(method));
    auto block = block_of(world, wave, problem, method, backend());
    block->launch(wave.steps);
    block->launch(wave.steps);
    const Values now = now_of(world, problem, *block), previous = previous_of(world, problem, *block);
    const auto go_on = [&] {
      for (const int steps : {wave.steps, wave.steps, 1}) block->launch(steps);
      return std::pair{now_of(world, problem, *block), previous_of(world, problem, *block)};
    };
    const auto expected = go_on();
    block = nullptr;
    block = block_of(world, wave, problem, method, backend());
    set(*block, problem, now, previous, 2 * wave.steps);
    EXPECT_EQ(go_on(), expected);
  }
}

TEST_P(Strides, KnowTheDifferenceToTheStepBefore) {
  Wave wave(5);
  const Problem problem = wave.problem(Precision::fp32);
  const std::vector<Method> methods = methods_for(problem, device(), wave.steps);
  ASSERT_FALSE(methods.empty());
  const auto block = block_of(world, wave, problem, methods.front(), backend());
  block->launch(wave.steps);
  block->launch(wave.steps);
  ASSERT_TRUE(block->keeps_difference());
  const Values difference = testing::gathered(
      world, problem.domain, block->view_difference().scan({1, problem.precision}).copy->host_field());
  const Values now = now_of(world, problem, *block), before = previous_of(world, problem, *block);
  EXPECT_FALSE(block->keeps_difference());
  for (std::size_t i = 0; i < now.size(); ++i)
    EXPECT_NEAR(difference[i], now[i] - before[i], 2 * 0x1p-24 * (std::abs(now[i]) + std::abs(before[i])));
}

#ifdef SPSOLVE_CUDA
/// Launches of several steps are marches of single fields, with single steps between them.
TEST_P(Strides, AreNotNeededForTheBitsOfSingleSteps) {
  if (GetParam() != std::string("cuda")) GTEST_SKIP() << "this march is one of GPUs";
  const testing::TestBackend cpu = testing::cpu_backend(world);
  const cuda::BlockLimits limits = cuda::current_device().block_limits();
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Wave wave(seed, seed % 3 == 0 ? 400 : 0);
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      const Problem problem = wave.problem(precision);
      const TwoLevelEquation equation = std::get<TwoLevelEquation>(strided_equation(problem));
      if (problem.equations->fills_ghosts() ||
          !cuda::two_level_tile(problem.domain, equation.s, precision, wave.steps, limits))
        continue;
      SCOPED_TRACE(wave.describe() + ", " + std::string(to_string(precision)) + ", seed " +
                   std::to_string(seed));
      const auto marched = block_of(world, wave, problem, Method(wave.steps), backend()),
                 single = block_of(world, wave, problem, Method(1), *cpu.backend);
      for (const int steps : launches(wave.steps)) {
        marched->launch(steps);
        for (int step = 0; step < steps; ++step) single->launch(1);
      }
      ASSERT_EQ(now_of(world, problem, *marched), now_of(world, problem, *single));
      ASSERT_EQ(previous_of(world, problem, *marched), previous_of(world, problem, *single));
      ++compared;
    }
  }
  EXPECT_GE(compared, 12);
}
#endif

INSTANTIATE_TEST_SUITE_P(Devices, Strides, testing::devices());

/// Returns why a plan leaves strides out, in the words for the first depth.
std::string why_left_out(const Problem& problem, PlanRequest request) {
  request.strided = true;
  try {
    const Plan plan = make_plan(problem, nominal_gpu(), request);
    return plan.rejected.empty() ? "" : plan.rejected.front().refusal.why;
  } catch (const Error& error) {
    return error.what();
  }
}

Problem problem_of(const std::string& step, int dimensions, Precision precision, Domain domain,
                   std::vector<std::string> coefficients = {}) {
  testing::ExampleStep example{"", {}, step, true};
  example.names.dimensions = domain.dimensions = dimensions;
  example.names.fields = {"u"};
  example.names.coefficients = std::move(coefficients);
  return system_problem(std::make_shared<const Equations>(canonical_form(testing::system_of(example)),
                                                          std::vector<Domain>{domain}, 1.0),
                        precision);
}

TEST(StridesInPlans, AreTakenWhereTheyAreAskedForAndMarchesWhereTheyAreFaster) {
  const std::string wave = "u.next = 2*u - u.previous + 0.2*laplace(u)";
  Domain plane;
  plane.shape = {1, 8192, 8192};
  const Problem in_2d = problem_of(wave, 2, Precision::fp32, plane);
  const Candidate march = make_plan(in_2d, nominal_gpu(), {}).chosen;
  EXPECT_FALSE(march.strided);
  EXPECT_GT(march.fuse, 4);
  PlanRequest request;
  request.unit = UnitKind::sparse_tensor;
  const Candidate asked = make_plan(in_2d, nominal_gpu(), request).chosen;
  EXPECT_TRUE(asked.strided);
  EXPECT_GT(asked.fuse, 1);
  EXPECT_GT(asked.error, 0);
}

TEST(StridesInPlans, AreRefusedWithAReason) {
  Domain domain;
  domain.shape = {1, 512, 512};
  const std::string wave = "u.next = 2*u - u.previous + 0.2*laplace(u)";
  const auto why = [&](const std::string& step, Precision precision, const Domain& on) {
    return why_left_out(problem_of(step, 2, precision, on), {});
  };
  for (const Precision precision : {Precision::fp16, Precision::bf16})
    EXPECT_NE(why(wave, precision, domain).find("sweeps add sources in fp32"), std::string::npos);
  EXPECT_NE(why("u.next = 2*u - u.previous + 0.6*laplace(u)", Precision::fp32, domain).find("amplifies"),
            std::string::npos);
  Domain walls = domain;
  walls.faces[y_axis] = {Face{BoundaryKind::dirichlet, 1.0}, Face{BoundaryKind::dirichlet, 1.0}};
  EXPECT_NE(why(wave, Precision::fp32, walls).find("beside the walls of y"), std::string::npos);
  walls.faces[y_axis] = {Face{BoundaryKind::dirichlet}, Face{BoundaryKind::dirichlet}};
  EXPECT_NE(why("u.next = 2*u - u.previous + 0.2*laplace(u, order=4)", Precision::fp32, walls)
                .find("beside the walls of y"),
            std::string::npos);
  PlanRequest tensor;
  tensor.unit = UnitKind::sparse_tensor;
  EXPECT_NE(
      why_left_out(problem_of("u.next = 2*u - u.previous + c*laplace(u)", 2, Precision::fp32, domain, {"c"}),
                   tensor)
          .find("its weights vary"),
      std::string::npos);
}

TEST(StridesInPlans, BoundGrowsWithTheLengthOfTheRun) {
  const TwoLevelEquation equation{Stencil({1, 1, 3}, {0.5, 1.0, 0.5}, {0, 0, 1}), 1.0};
  Method method(4);
  method.strided = true;
  double last = 0;
  for (const std::int64_t steps : {40, 400, 4000}) {
    const double error = strided_error(equation, method, Precision::fp32, {steps, steps});
    EXPECT_GT(error, last);
    last = error;
    // Fewer launches accumulate less.
    EXPECT_LT(error, single_steps_error(equation, Precision::fp32, steps));
  }
}

/// Weights of 11 bits let some wave grow that the exact weights keep.
TEST(StridesInPlans, BoundTheGrowthByRoundedWeights) {
  const TwoLevelEquation equation{Stencil({1, 1, 3}, {0.9, 0.2, 0.9}, {0, 0, 1}), 1.0};
  double largest_growth = 1;
  for (const int steps : {3, 5, 8, 13, 21, 40}) {
    const StrideLeapfrog stride = stride_leapfrog(equation.s, equation.q, steps);
    const auto& [now, previous] = stride;
    std::vector<double> weights(static_cast<std::size_t>(2 * steps + 1));
    for (const Tap& tap : now.taps()) {
      int exponent = 0;
      const double digits = std::frexp(tap.weight, &exponent);
      weights[static_cast<std::size_t>(tap.offset[x_axis] + steps)] =
          std::ldexp(std::nearbyint(std::ldexp(digits, 11)), exponent - 11);
    }
    double largest_root = 0;
    for (const std::complex<double>& s :
         sampled_symbol({{1, 1, 2 * steps + 1}, weights, {0, 0, steps}}, {1, 1, 65536}))
      for (const double sign : {-1.0, 1.0})
        largest_root = std::max(largest_root, std::abs(s + sign * std::sqrt(s * s + 4 * previous)) / 2);
    largest_growth = std::max(largest_growth, largest_root);
    Method method(steps);
    method.strided = true;
    EXPECT_GE(growth_by_rounding(stride, method, Precision::tf32, 10 * steps), std::pow(largest_root, 10));
    EXPECT_LT(growth_by_rounding(stride, method, Precision::fp64, 1000 * steps), 1.001);
  }
  EXPECT_GT(largest_growth, 1.001);
}

}  // namespace
}  // namespace spsolve
