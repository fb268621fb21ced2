// SPDX-License-Identifier: Apache-2.0
// These tests check walls whose ghost points are filled before every step and between groups of statements.
// On any number of ranks, on CPUs and on GPUs, the fields must have the bits that one rank computes on a CPU,
// which app_walls compares with a model in numpy.
#include <gtest/gtest.h>

#include "solver/block.hpp"
#include "solver/plan/plan.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/random_walls.hpp"

namespace spsolve {
namespace {

/// Returns steps that read ghost points in every way: several layers, two time levels, displaced `.next`.
std::vector<testing::ExampleStep> steps_of(int dimensions) {
  StepNames names;
  names.dimensions = dimensions;
  names.dt = 0.125;
  names.fields = {"u", "v"};
  const std::string displaced = dimensions == 1 ? "[1]" : dimensions == 2 ? "[1, -1]" : "[1, 0, -1]";
  return {
      {"four layers", names, "u.next = u + 0.05*laplace(u, order=8); v.next = v + cos(t)*u"},
      {"two time levels", names,
       "u.next = 1.4*u - 0.5*u.previous" + displaced +
           " + 0.1*laplace(u); v.next = 0.5*v.previous + 0.2*laplace(v) + 0.1*u"},
      {"groups of statements", names,
       "u.next = 0.8*u + 0.1*laplace(v); v.next = 0.5*v + 0.1*laplace(u.next) + 0.2*u.next" + displaced},
  };
}

class FilledWalls : public testing::OnDevice {
 protected:
  /// Describes how a random problem is solved.
  struct Run {
    Precision precision;
    Index3 ranks;
    int steps = 4, exchange_every = 1, fuse = 1;
  };
  using Fields = std::vector<std::vector<double>>;

  /// Gives fields filled walls at random, at least one of them; the others keep their walls.
  static Problem with_filled_walls(const testing::ExampleStep& example, testing::RandomProblem& problem,
                                   Precision precision, std::mt19937& random, bool vary = true) {
    std::vector<Domain> fields = problem.context.fields;
    std::vector<FilledFace> faces;
    for (std::size_t field = 0; field < fields.size(); ++field)
      if (field == 0 || std::bernoulli_distribution(0.6)(random))
        testing::fill_at_random(fields[field], static_cast<int>(field), random, faces);
    if (!vary)
      for (FilledFace& face : faces) {
        face.varies_along_face = face.varies_in_time = false;
        face.values = testing::random_values(face, fields.front(), random);
      }
    return system_problem(std::make_shared<const Equations>(canonical_form(testing::system_of(example)),
                                                            fields, problem.context.dt, faces),
                          precision);
  }

  static Fields advanced(const Communicator& ranks, Backend& by, const Problem& what,
                         const SystemState<double>& state, const Run& run) {
    Block block(ranks, what, Decomposition(what.domain.shape, run.ranks), Method(run.fuse), by,
                run.exchange_every);
    for (std::size_t field = 0; field < what.field_count(); ++field) {
      block.set_state(testing::values_of(what.domain, state.now[field]), field, state.step);
      if (what.has_previous(field))
        block.set_previous(testing::values_of(what.domain, state.previous[field]), field);
    }
    for (int left = run.steps; left > 0;) {
      const int steps = left >= run.fuse ? run.fuse : 1;
      block.launch(steps);
      left -= steps;
    }
    Fields fields;
    for (std::size_t field = 0; field < what.field_count(); ++field)
      fields.push_back(testing::gathered(ranks, what.domain, block.state(field)));
    return fields;
  }

  void expect_the_bits_of_one_rank(const Problem& what, const SystemState<double>& state, const Run& run,
                                   const std::string& name) {
    const Communicator alone(MPI_COMM_SELF);
    const testing::TestBackend cpu = testing::cpu_backend(alone);
    const Fields wanted =
        advanced(alone, *cpu.backend, what, state, {run.precision, {1, 1, 1}, run.steps, 1});
    for (const testing::TestBackend& by : backends) {
      const Fields found = advanced(world, *by.backend, what, state, run);
      for (std::size_t field = 0; field < found.size(); ++field)
        for (std::size_t i = 0; i < found[field].size(); ++i)
          ASSERT_EQ(found[field][i], wanted[field][i])
              << name << " in " << to_string(run.precision) << " on " << by.name << ", field " << field
              << ", point " << i << " of " << ::testing::PrintToString(what.domain.shape) << ", ranks "
              << ::testing::PrintToString(run.ranks) << ", one exchange in " << run.exchange_every
              << " steps";
    }
    ++compared;
  }

  int compared = 0;
};

TEST_P(FilledWalls, HaveTheBitsOfOneRankOnACpu) {
  std::mt19937 random(21);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  constexpr std::array precisions{Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16};
  const int repeats = on_gpus ? 36 : 120;  // kernels have to be compiled
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const int dimensions = 1 + repeat % 3;
    const auto steps = steps_of(dimensions);
    const testing::ExampleStep& example =
        steps[static_cast<std::size_t>(below(static_cast<int>(steps.size())))];
    testing::RandomProblem problem(example, random, dimensions == 3 ? 9 : 30);
    const Precision precision = precisions[static_cast<std::size_t>(below(4))];
    const Problem what = with_filled_walls(example, problem, precision, random);
    const auto ranks = testing::rank_grids(what.domain.shape, world.size());
    const int choice = below(1000), exchange_every = 1 + below(2);
    if (ranks.empty()) continue;
    expect_the_bits_of_one_rank(
        what, problem.state,
        {precision, ranks[static_cast<std::size_t>(choice) % ranks.size()], 4, exchange_every}, example.name);
  }
  EXPECT_GT(compared, repeats / 2);
}

/// Blocks of every rank are large enough for the march kernels of GPUs.
TEST_P(FilledWalls, HaveTheBitsOfOneRankOnLargeGrids) {
  std::mt19937 random(22);
  std::uniform_real_distribution<double> value(0.1, 1.0);
  for (const int dimensions : {2, 3})
    for (const testing::ExampleStep& example : steps_of(dimensions))
      for (const Precision precision : {Precision::fp64, Precision::fp32}) {
        testing::RandomProblem problem(example, random, 1);
        for (Domain& domain : problem.context.fields)
          domain.shape = dimensions == 3 ? Index3{41, 45, 150} : Index3{1, 75, 530};
        for (auto* arrays : {&problem.state.now, &problem.state.previous})
          for (auto& array : *arrays) {
            array.resize(static_cast<std::size_t>(volume(problem.context.shape())));
            for (double& element : array) element = value(random);
          }
        const Problem what = with_filled_walls(example, problem, precision, random);
        const auto ranks = testing::rank_grids(what.domain.shape, world.size());
        expect_the_bits_of_one_rank(what, problem.state,
                                    {precision, ranks[static_cast<std::size_t>(compared) % ranks.size()], 3},
                                    example.name);
      }
}

/// Values of these walls are the same everywhere and at all times.
TEST_P(FilledWalls, InSeveralStepsPerLaunchHaveTheBitsOfSingleOnes) {
  if (GetParam() != std::string("cuda")) GTEST_SKIP() << "CPUs take single steps between filled walls";
  std::mt19937 random(24);
  for (const int dimensions : {2, 3}) {
    testing::ExampleStep diffusion{
        "diffusion", {}, "u.next = u + 0.1*laplace(u) - 0.1*u*v; v.next = v + 0.1*laplace(v)"},
        waves{"waves", {}, "u.next = 1.9*u - 0.95*u.previous + 0.1*laplace(u); v.next = 0.9*v + 0.1*u"};
    for (testing::ExampleStep* example : {&diffusion, &waves}) {
      example->names.dimensions = dimensions;
      example->names.dt = 0.125;
      example->names.fields = {"u", "v"};
      for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::bf16})
        for (const int fuse : {2, 3}) {
          testing::RandomProblem problem(*example, random, 1);
          problem.resize(dimensions == 3 ? Index3{19, 45, 97} : Index3{1, 75, 203}, random);
          const Problem what = with_filled_walls(*example, problem, precision, random, false);
          const auto ranks = testing::rank_grids(what.domain.shape, world.size());
          const Index3& grid = ranks[static_cast<std::size_t>(compared) % ranks.size()];
          expect_the_bits_of_one_rank(what, problem.state, {precision, grid, 2 * fuse + 1, 1, fuse},
                                      example->name);
        }
    }
  }
}

TEST(PlansOfFilledWalls, TakeSingleStepsAndSayWhy) {
  const testing::ExampleStep example = steps_of(3).front();
  std::vector<Domain> fields(2, Domain{.dimensions = 3, .shape = {512, 512, 512}});
  std::vector<FilledFace> faces;
  for (Domain& field : fields)
    field.faces[z_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
  std::mt19937 random(23);
  testing::fill_at_random(fields[1], 1, random, faces);
  const Problem what =
      system_problem(std::make_shared<const Equations>(canonical_form(testing::system_of(example)), fields,
                                                       example.names.dt, faces),
                     Precision::fp32);
  const Plan plan = make_plan(what, nominal_gpu(), {});
  EXPECT_EQ(plan.chosen.fuse, 1);
  ASSERT_FALSE(plan.rejected.empty());
  EXPECT_EQ(plan.rejected.front().refusal.why,
            "ghost points whose values change along a face or in time are filled before every step");
  EXPECT_THROW(make_plan(what, nominal_gpu(), {{}, {}, 2}), Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, FilledWalls, testing::devices());

}  // namespace
}  // namespace spsolve
