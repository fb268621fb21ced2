// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are advanced with fused weights, on real or emulated tensor cores, must match those of the
// scalar unit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/reference.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "solver/plan/model.hpp"
#include "tests/kernels/operator/example_steps.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/wall_reflections.hpp"

namespace spsolve {
namespace {

/// Returns every method that a device has for a problem at a depth.
std::vector<Method> methods_for(const Problem& problem, const DeviceModel& device, int fuse) {
  std::vector<Method> methods;
  for (const UnitKind unit : {UnitKind::tensor, UnitKind::sparse_tensor})
    for (const Layout layout :
         {Layout::strided_swap, Layout::morph, fp64_layout(device.gpu), Layout::separable}) {
      const Method method(fuse, unit, layout, unit_roundoff(problem.precision) / 2);
      if (!why_no_kernel(problem, device, method) && std::isfinite(evaluate(problem, device, method).seconds))
        methods.push_back(method);
    }
  return methods;
}

constexpr int random_cases = 8, separable_cases = 2, symmetric_cases = 10, value_cases = 10;

struct Case {
  testing::RandomCase problem;
  int fuse;

  /// The grid is enlarged in x, so that some points are not beside walls.
  explicit Case(int seed)
      : problem(static_cast<std::uint64_t>(seed), 1, 1500), fuse(static_cast<int>(problem.between(1, 3))) {
    problem.domain.shape[x_axis] += 16;
    if (seed >= random_cases + separable_cases) {  // walls with reflections
      const bool with_value_faces = seed >= random_cases + separable_cases + symmetric_cases;
      problem = testing::with_symmetric_weights(problem, 2, with_value_faces);
      return;
    }
    if (seed >= random_cases) make_separable();
    problem.u = problem.uniform(problem.domain.box().points());
    problem.source = problem.uniform(problem.domain.box().points());
  }

  /// Replaces the problem by a 3D one with walls across y and weights that are a product of factors.
  void make_separable() {
    fuse = 2;
    problem.domain = {};
    problem.domain.dimensions = 3;
    problem.domain.shape = {problem.between(3, 9), problem.between(7, 11), problem.between(18, 30)};
    problem.domain.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
    std::array<std::vector<double>, axis_count> factors;
    for (auto& factor : factors) {
      factor = problem.uniform(3);
      double sum = 0;
      for (double& weight : factor) sum += weight = std::abs(weight) + 0.1;
      for (double& weight : factor) weight /= sum;
    }
    std::vector<double> weights;
    for (const double z : factors[0])
      for (const double y : factors[1])
        for (const double x : factors[2]) weights.push_back(z * y * x);
    problem.stencil = Stencil({3, 3, 3}, weights, {1, 1, 1});
  }

  /// Returns a stencil with a source or, between faces of BoundaryKind::value, an equation without one.
  Problem in(Precision precision) const {
    Domain walls = problem.domain;
    const std::vector<FilledFace> filled = testing::fill_value_faces(walls);
    if (filled.empty()) return {problem.domain, problem.stencil, precision, true};
    testing::ExampleStep step{"sum", {}, "u.next = correlate(w, u)"};
    step.names.dimensions = problem.domain.dimensions;
    step.names.fields = {"u"};
    step.names.stencils = {{"w", problem.stencil}};
    return system_problem(std::make_shared<const Equations>(canonical_form(testing::system_of(step)),
                                                            std::vector<Domain>{walls}, 1.0, filled),
                          precision);
  }

  std::vector<double> solve(const Communicator& communicator, const Index3& grid, const Problem& what,
                            const Method& method, Backend& backend, int exchange_every = 1) const {
    Block block(communicator, what, Decomposition(what.domain.shape, grid), method, backend, exchange_every);
    if (what.has_source) block.set_source(testing::values_of(what.domain, problem.source));
    block.set_state(testing::values_of(what.domain, problem.u));
    for (const int steps : {fuse, 1, fuse}) block.launch(steps);
    return testing::gathered(communicator, what.domain, block.state());
  }
  int steps() const { return 2 * fuse + 1; }
};

/// Tests all methods for one problem in the given precisions. Results must have the same bits on these ranks
/// as on one, and stay within the bound.
void expect_units_to_work(const Case& c, const std::vector<Precision>& precisions, const DeviceModel& device,
                          const Communicator& world, Backend& together, Backend& alone) {
  const auto& problem = c.problem;
  const Communicator self(MPI_COMM_SELF);
  const Index3 grid = min_surface_rank_grid(problem.domain.shape, world.size(), problem.stencil.radius());
  for (const Precision precision : precisions) {
    const Problem what = c.in(precision);
    if (precision == Precision::tf32 && what.equations) continue;  // not in equations
    for (const Method& method : methods_for(what, device, c.fuse)) {
      SCOPED_TRACE(problem.describe() + " " + std::string(to_string(precision)) + " " + describe(method) +
                   " fuse " + std::to_string(c.fuse));
      std::vector<double> found;
      try {
        found = c.solve(self, {1, 1, 1}, what, method, alone);
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_input);
        continue;  // no kernel for this stencil
      }
      EXPECT_EQ(c.solve(world, grid, what, method, together), found) << "another decomposition";
      EXPECT_EQ(c.solve(world, grid, what, method, together, 2), found) << "deeper halos";

      const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, c.steps(),
                                            what.has_source ? &problem.source : nullptr);
      // sum |w| = 1, so nothing exceeds steps + 1. The bound is that of two launches by the plan, a single
      // step, the fused source, and rounding when data are stored.
      const auto scalar = [&](int steps) { return scalar_error(problem.stencil, steps, precision).total(); };
      const double bound = (2 * c.fuse * evaluate(what, device, method).error + scalar(1) +
                            scalar(c.steps()) + c.steps() * unit_roundoff(precision)) *
                           (c.steps() + 1);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], bound) << "at " << i;
    }
  }
}

class TensorUnits : public ::testing::TestWithParam<int> {};

TEST_P(TensorUnits, EmulatedOnesKeepTheirBoundOnAnyDecomposition) {
  const Communicator world, self(MPI_COMM_SELF);
  const auto together = testing::cpu_backend(world), alone = testing::cpu_backend(self);
  std::vector<Precision> precisions{std::begin(all_precisions), std::end(all_precisions)};
  if (GetParam() >= random_cases && GetParam() < random_cases + separable_cases)
    precisions = {all_precisions[GetParam() % 5]};  // these are slow
  expect_units_to_work(Case(GetParam()), precisions, nominal_cpu(), world, *together.backend, *alone.backend);
}

/// Kernels take seconds to compile, so each problem is tested in one precision.
TEST_P(TensorUnits, OfGpusKeepTheirBoundOnAnyDecomposition) {
  const Communicator world, self(MPI_COMM_SELF);
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
#ifdef SPSOLVE_CUDA
  CudaBackend alone(self, "mpi");  // on the same device
  expect_units_to_work(Case(GetParam()), {all_precisions[GetParam() % 5]}, nominal_gpu(), world,
                       *gpus.back().backend, alone);
#endif
}

/// Returns a plane in fp32 whose data become scaled pairs of fp16: periodic, between walls with bands of
/// single steps, or between walls with reflections, which are up to three times as large as the field.
Problem scaled_problem(int seed, double magnitude) {
  testing::RandomCase random(static_cast<std::uint64_t>(seed));
  Domain domain{2, {1, 37, 53}, {}};
  const Face wall{BoundaryKind::dirichlet, magnitude};
  if (seed == 1) domain.faces[y_axis] = {wall, Face{BoundaryKind::neumann}};
  if (seed == 2) domain.faces = {domain.faces[z_axis], {wall, wall}, {wall, wall}};
  std::vector<double> weights{0.05, 0.125, 0.05, 0.125, 0.3, 0.125, 0.05, 0.125, 0.05};
  if (seed < 2) weights = random.uniform(9);
  double sum = 0;
  for (const double weight : weights) sum += std::abs(weight);
  for (double& weight : weights) weight /= sum;
  return {domain, Stencil({1, 3, 3}, weights, {0, 1, 1}), Precision::fp32, true};
}

Block block_of_pairs(const Communicator& ranks, const Problem& problem, int fuse, Backend& backend,
                     int exchange_every = 1) {
  const Index3 grid = min_surface_rank_grid(problem.domain.shape, ranks.size(), problem.stencil.radius());
  return {ranks,
          problem,
          Decomposition(problem.domain.shape, grid),
          Method(fuse, UnitKind::sparse_tensor, Layout::strided_swap),
          backend,
          exchange_every};
}

/// Returns the results for values scaled by `magnitude`, after launches of all lengths.
std::vector<double> scaled_results(const Communicator& world, int seed, double magnitude, Backend& backend) {
  const Problem problem = scaled_problem(seed, magnitude);
  testing::RandomCase random(static_cast<std::uint64_t>(100 + seed));
  const std::int64_t points = problem.domain.box().points();
  std::vector<double> u = random.uniform(points), source = random.uniform(points);
  for (auto* values : {&u, &source})
    for (double& value : *values) value = magnitude * static_cast<float>(value);
  Block block = block_of_pairs(world, problem, 2, backend);
  block.set_source(testing::values_of(problem.domain, source));
  block.set_state(testing::values_of(problem.domain, u));
  for (const int steps : {2, 2, 1, 2}) block.launch(steps);
  return testing::gathered(world, problem.domain, block.state());
}

void expect_scaled_results(const Communicator& world, Backend& backend) {
  for (const int seed : {0, 1, 2}) {
    const std::vector<double> unscaled = scaled_results(world, seed, 1.0, backend);
    for (const double magnitude : {0x1p60, 0x1p-60}) {
      const std::vector<double> scaled = scaled_results(world, seed, magnitude, backend);
      for (std::size_t i = 0; i < unscaled.size(); ++i)
        ASSERT_EQ(scaled[i], magnitude * unscaled[i]) << seed << ' ' << magnitude << ' ' << i;
    }
  }
}

/// Data span 2^26 and are large in one corner, so that bits reveal the scale by which they were split. The
/// bits must be the same on any number of ranks, after the state is set again during the run, and with any
/// launches in between.
void expect_one_scale(const Communicator& world, Backend& together, Backend& alone) {
  const Communicator self(MPI_COMM_SELF);
  for (const int seed : {0, 1, 2}) {
    Problem problem = scaled_problem(seed, 0.25);
    problem.has_source = false;
    testing::RandomCase random(static_cast<std::uint64_t>(200 + seed));
    std::vector<double> u = random.uniform(problem.domain.box().points());
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = static_cast<float>(u[i] * std::exp2(-26.0 * std::min(1.0, static_cast<double>(i) / 400)));
    const auto solve = [&](const Communicator& ranks, Backend& backend, int every, bool again) {
      Block block = block_of_pairs(ranks, problem, 2, backend, every);
      block.set_state(testing::values_of(problem.domain, u));
      for (const int steps : {2, 2, 1, 2, 2}) {
        block.launch(steps);
        if (again)
          block.set_state(
              testing::values_of(problem.domain, testing::gathered(ranks, problem.domain, block.state())));
      }
      return testing::gathered(ranks, problem.domain, block.state());
    };
    const std::vector<double> found = solve(self, alone, 1, false);
    EXPECT_EQ(solve(self, alone, 1, true), found) << "set anew, " << seed;
    EXPECT_EQ(solve(world, together, 1, false), found) << "another decomposition, " << seed;
    EXPECT_EQ(solve(world, together, 1, true), found) << "that, set anew, " << seed;
    EXPECT_EQ(solve(world, together, 2, false), found) << "deeper halos, " << seed;
  }
}

/// Tests a field that grows, and one that decays, by 2^80 in total.
void expect_scale_to_follow(const Communicator& world, Backend& backend) {
  for (const double factor : {0x1p8, 0x1p-8}) {
    std::vector<double> weights = testing::RandomCase(7).uniform(25);
    double sum = 0;
    for (double& weight : weights) sum += weight = std::abs(weight);
    for (double& weight : weights) weight *= factor / sum;
    const Problem problem{
        {2, {1, 31, 44}, {}}, Stencil({1, 5, 5}, weights, {0, 2, 2}), Precision::fp32, false};
    std::vector<double> u = testing::RandomCase(8).uniform(problem.domain.box().points());
    for (double& value : u) value = static_cast<float>(1.5 + value);
    Block block = block_of_pairs(world, problem, 1, backend);
    block.set_state(testing::values_of(problem.domain, u));
    constexpr int steps = 10;
    for (int step = 0; step < steps; ++step) block.launch(1);
    const auto found = testing::gathered(world, problem.domain, block.state());
    const auto exact = reference_steps(problem.domain, problem.stencil, u, steps);
    const double bound =
        steps * (sweep_error(problem.stencil, Precision::fp32, Layout::strided_swap, 0).total());
    for (std::size_t i = 0; i < exact.size(); ++i)
      ASSERT_NEAR(found[i] / exact[i], 1, 4 * bound) << factor << ' ' << i;
  }
}

TEST(ScaledData, GivesTheSameBitsWhateverTheMagnitude) {
  const Communicator world;
  expect_scaled_results(world, *testing::cpu_backend(world).backend);
}

TEST(ScaledData, IsScaledAnewByEveryLaunch) {
  const Communicator world;
  expect_scale_to_follow(world, *testing::cpu_backend(world).backend);
}

TEST(ScaledData, HasOneScaleOnAllRanks) {
  const Communicator world, self(MPI_COMM_SELF);
  const auto together = testing::cpu_backend(world), alone = testing::cpu_backend(self);
  expect_one_scale(world, *together.backend, *alone.backend);
}

/// An infinite value makes all values non-finite, so it must not be lost.
TEST(ScaledData, KeepsWhatIsNotFinite) {
  const Communicator world;
  const auto backend = testing::cpu_backend(world);
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Problem problem{{2, {1, 12, 20}, {}}, scaled_problem(2, 1).stencil, Precision::fp32, false};
    std::vector<double> u(static_cast<std::size_t>(problem.domain.box().points()), 1.0);
    u[123] = value;
    Block block = block_of_pairs(world, problem, 1, *backend.backend);
    block.set_state(testing::values_of(problem.domain, u));
    block.launch(1);
    EXPECT_FALSE(std::isfinite(testing::gathered(world, problem.domain, block.state())[123]));
    block.set_state(testing::values_of(problem.domain, std::vector<double>(u.size(), 0.0)));
    block.launch(1);
    EXPECT_EQ(testing::gathered(world, problem.domain, block.state()), std::vector<double>(u.size(), 0.0));
  }
}

/// Repeats the reduction over all ranks many times, while ranks may be out of step.
void expect_largest_of_ranks(const Communicator& world, Backend& backend) {
  const auto of_rank = [](int round, int rank) { return (round * 37 + rank * 53) % 101; };
  std::vector<Field> fields;
  for (int round = 0; round < 50; ++round) {
    Field& field =
        fields.emplace_back(Box{{0, 0, 0}, {1, 1, 1}}, Index3{}, Precision::fp32, backend.memory());
    backend.reducer().set_magnitude_bound(field, of_rank(round, world.rank()));
    backend.order(Queue::compute, Queue::exchange);
    backend.transport().all_reduce_max(field.magnitude_bound());
  }
  backend.order(Queue::exchange, Queue::compute);
  backend.synchronize();
  for (int round = 0; round < 50; ++round) {
    const int* const found = fields[static_cast<std::size_t>(round)].magnitude_bound();
    int largest = 0, expected = 0;
#ifdef SPSOLVE_CUDA
    if (backend.queues_overlap())
      cuda::check_cuda(cudaMemcpy(&largest, found, sizeof largest, cudaMemcpyDefault));
    else
#endif
      largest = *found;
    for (int rank = 0; rank < world.size(); ++rank) expected = std::max(expected, of_rank(round, rank));
    EXPECT_EQ(largest, expected) << "round " << round;
  }
}

TEST(ScaledData, KnowsTheLargestOfAllRanks) {
  const Communicator world;
  expect_largest_of_ranks(world, *testing::cpu_backend(world).backend);
  expect_largest_of_ranks(world, *testing::cpu_backend_of_boxes(world).backend);
}

TEST(ScaledData, OnGpus) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
#ifdef SPSOLVE_CUDA
  CudaBackend alone(Communicator(MPI_COMM_SELF), "mpi");
  for (const auto& gpu : gpus) {
    SCOPED_TRACE(gpu.name);
    if (world.size() > 1) expect_largest_of_ranks(world, *gpu.backend);
    expect_scaled_results(world, *gpu.backend);
    expect_scale_to_follow(world, *gpu.backend);
    expect_one_scale(world, *gpu.backend, alone);
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Random, TensorUnits,
                         ::testing::Range(0, random_cases + separable_cases + symmetric_cases + value_cases));

}  // namespace
}  // namespace spsolve
