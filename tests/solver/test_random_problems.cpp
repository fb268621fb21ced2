// SPDX-License-Identifier: Apache-2.0
//
// Solves random problems on all ranks, many in one process: any shape, radius, walls, precision,
// decomposition, depth and number of launches per exchange, on CPUs and GPUs. Results are compared with one
// rank of the CPU unit. SPSOLVE_RANDOM_CASES=n runs n problems; SPSOLVE_RANDOM_SEED=s selects others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/sparse/accuracy.hpp"
#include "solver/plan/exchange_interval.hpp"
#include "solver/plan/plan.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#endif

namespace spsolve {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

constexpr int largest_radii[] = {1, 2, 3, 6};
constexpr std::int64_t sizes[] = {60, 1500, 40000};
constexpr std::int64_t max_points_with_halos = 1 << 21;

struct Case {
  testing::RandomCase random;
  Problem problem;
  int fuse, exchange_every;
  std::optional<Index3> rank_grid;

  Case(std::uint64_t seed, int ranks)
      : random(seed, largest_radii[seed % 4], sizes[seed / 4 % 3]),
        problem{random.domain, random.stencil, all_precisions[seed % 5], random.between(0, 1) == 1},
        fuse(static_cast<int>(random.between(1, 6))),
        exchange_every(static_cast<int>(random.between(1, 4))),
        rank_grid(testing::random_rank_grid(random, ranks)) {
    if (random.between(0, 2) == 0) problem.stencil = symmetric_product();
    while (points_with_halos() > max_points_with_halos && exchange_every > 1) --exchange_every;
    while (points_with_halos() > max_points_with_halos && fuse > 1) --fuse;
  }

  /// Returns weights that are products of symmetric factors, which kernels fold and separate.
  Stencil symmetric_product() {
    const Index3 radius = problem.stencil.radius(), extent = 2 * radius + Index3{1, 1, 1};
    std::array<std::vector<double>, axis_count> factors;
    for (int axis = 0; axis < axis_count; ++axis) {
      factors[axis] = random.uniform(extent[axis]);
      factors[axis][static_cast<std::size_t>(radius[axis])] += 2;
      double sum = 0;
      for (std::int64_t i = 0; i < extent[axis]; ++i) {
        if (i > radius[axis])
          factors[axis][static_cast<std::size_t>(i)] =
              factors[axis][static_cast<std::size_t>(2 * radius[axis] - i)];
        sum += std::abs(factors[axis][static_cast<std::size_t>(i)]);
      }
      for (double& factor : factors[axis]) factor /= sum;
    }
    std::vector<double> weights;
    for_each_point(box_of(extent), [&](const Index3& p) {
      double weight = 1;
      for (int axis = 0; axis < axis_count; ++axis)
        weight *= factors[axis][static_cast<std::size_t>(p[axis])];
      weights.push_back(weight);
    });
    return Stencil(extent, weights, radius);
  }

  std::int64_t points_with_halos() const {
    return volume(problem.domain.shape + 2 * exchange_every * fuse * problem.stencil.radius());
  }

  std::string describe() const {
    const Index3& grid = *rank_grid;
    return fmt::format("{} {}{} fuse {} exchange_every {} ranks {}x{}x{}", random.describe(),
                       to_string(problem.precision), problem.has_source ? " source" : "", fuse,
                       exchange_every, grid[0], grid[1], grid[2]);
  }

  /// Returns launches of all depths up to the deepest one, from either field.
  static std::vector<int> launches(const Method& method) {
    return {method.fuse, 1, method.fuse, method.fuse, method.fuse / 2 + 1, 1, method.fuse};
  }
  static int steps(const Method& method) { return 4 * method.fuse + method.fuse / 2 + 3; }

  std::vector<double> solve(const Communicator& communicator, const Problem& what, const Index3& grid,
                            const Method& method, int every, Backend& backend) const {
    Block block(communicator, what, Decomposition(what.domain.shape, grid), method, backend, every);
    if (what.has_source) block.set_source(testing::values_of(what.domain, random.source));
    block.set_state(testing::values_of(what.domain, random.u));
    for (const int count : launches(method)) block.launch(count);
    return testing::gathered(communicator, what.domain, block.state());
  }
  /// Solves the problem on one rank of the CPU unit, with an exchange before every launch.
  std::vector<double> alone(Precision precision, int depth) const {
    const Communicator self(MPI_COMM_SELF);
    Problem what = problem;
    what.precision = precision;
    return solve(self, what, {1, 1, 1}, depth, 1, *testing::cpu_backend(self).backend);
  }
};

/// Returns true if results must have the bits of the CPU's scalar unit. GPUs fold symmetric boxes, which
/// changes bits.
bool has_bits_of_cpu([[maybe_unused]] const Problem& problem, const Method& method,
                     const testing::TestBackend& on) {
  if (method.fused_weights()) return false;
  if (on.name.starts_with("cpu")) return true;
#ifdef SPSOLVE_CUDA
  const auto folded =
      cuda::KernelStencil(problem.domain, problem.stencil, problem.precision, problem.has_source).folded;
  return std::count(folded.begin(), folded.end(), true) == 0;
#else
  return true;
#endif
}

/// Bounds the difference from exact results: launches of the method, with the error that the plan reports,
/// and remaining steps by the scalar unit. Data are at most 1, and walls and source add at most 1 in each
/// step (sum |w| = 1). The bound includes the fused source and storage.
double bound(const Problem& problem, const Method& method) {
  const int steps = Case::steps(method);
  const double launch = method.fuse * evaluate(problem, nominal_gpu(), method).error;
  double sum = steps * unit_roundoff(problem.precision);
  for (const int count : Case::launches(method))
    sum += count == method.fuse ? launch : scalar_error(problem.stencil, count, problem.precision).total();
  if (problem.has_source) sum += scalar_error(problem.stencil, steps, problem.precision).total();
  return sum * (steps + 1);
}

void expect_results(const Case& c, const Communicator& world, const Method& method, int exchange_every,
                    const testing::TestBackend& on) {
  SCOPED_TRACE(
      fmt::format("{} {} fuse {} exchange_every {}", on.name, describe(method), method.fuse, exchange_every));
  const auto found = c.solve(world, c.problem, *c.rank_grid, method, exchange_every, *on.backend);
  if (has_bits_of_cpu(c.problem, method, on)) {
    EXPECT_EQ(found, c.alone(c.problem.precision, method.fuse));
    return;
  }
  const auto exact = c.alone(Precision::fp64, method.fuse);
  const double most = bound(c.problem, method);
  for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(found[i], exact[i], most) << "at " << i;
}

/// Returns a unit with fused weights that the plan knows for the problem but did not choose, in the layouts
/// of the device that solves it.
std::optional<Candidate> rival(Case& c, const Plan& plan, bool on_gpu) {
  std::vector<Candidate> fused;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.fused_weights() && candidate.fuse <= 4) fused.push_back(candidate);
  if (fused.empty()) return std::nullopt;
  Candidate& one = fused[static_cast<std::size_t>(c.random.between(0, std::ssize(fused) - 1))];
  if (one.layout == fp64_layout(!on_gpu)) one.layout = fp64_layout(on_gpu);
  return one;
}

/// Tests the scalar unit and emulated tensor units.
TEST(RandomProblems, OnCpusHaveTheBitsOfOneRankOrKeepTheirBound) {
  const Communicator world;
  const testing::TestBackend cpus[]{testing::cpu_backend(world), testing::cpu_backend_of_boxes(world)};
  const std::uint64_t first = number("SPSOLVE_RANDOM_SEED", 0), cases = number("SPSOLVE_RANDOM_CASES", 12);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Case c(seed, world.size());
    if (!c.rank_grid) continue;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, c.describe()));
    const testing::TestBackend& cpu = cpus[seed / 2 % 2];
    expect_results(c, world, c.fuse, c.exchange_every, cpu);
    if (c.problem.domain.box().points() > 3000) continue;
    if (const auto emulated = rival(c, make_plan(c.problem, nominal_gpu(), {}), false))
      expect_results(c, world, *emulated, c.exchange_every, cpu);
  }
}

/// Every problem must have a plan on any device, however thin the grid and whatever its walls.
TEST(RandomProblems, HavePlans) {
  if (Communicator().size() > 1) GTEST_SKIP() << "plans of one rank are the same on any number of ranks";
  const std::uint64_t first = number("SPSOLVE_RANDOM_SEED", 0), cases = number("SPSOLVE_RANDOM_CASES", 12);
  for (std::uint64_t seed = first; seed < first + 5 * cases; ++seed) {
    const Case c(seed, 1);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, c.describe()));
    for (const DeviceModel& device : {nominal_gpu(), nominal_cpu()}) {
      const Plan plan = make_plan(c.problem, device, {});
      EXPECT_TRUE(std::isfinite(plan.chosen.seconds) && plan.chosen.seconds > 0) << plan.chosen.seconds;
    }
  }
}

/// Single steps of 27 x 27 weights in fp64 were measured on H200 at 30 GStencil/s
/// (docs/log/mma.md), several times the rate of CUDA cores.
TEST(RandomProblems, OfManyTapsGoToTensorCores) {
  testing::RandomCase random(1);
  const Stencil stencil({1, 27, 27}, random.uniform(27 * 27), {0, 13, 13});
  const Domain domain{2, {1, 8192, 8192}, {}};
  EXPECT_TRUE(make_plan({domain, stencil, Precision::fp64, false}, nominal_gpu(), {}).chosen.fused_weights());
}

/// Tests the scalar unit, the method that the plan chooses, and occasionally (kernels take seconds to
/// compile) a tensor unit.
TEST(RandomProblems, OnGpusAreThoseOfCpusOrKeepTheirBound) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
  const std::uint64_t first = number("SPSOLVE_RANDOM_SEED", 0), cases = number("SPSOLVE_RANDOM_CASES", 12);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Case c(seed, world.size());
    if (!c.rank_grid) continue;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, c.describe()));
    const testing::TestBackend& gpu = gpus[seed % gpus.size()];
    expect_results(c, world, c.fuse, c.exchange_every, gpu);
    const Plan plan = make_plan(c.problem, nominal_gpu(), {});
    const Decomposition decomposition(c.problem.domain.shape, *c.rank_grid);
    expect_results(c, world, plan.chosen, launches_per_exchange(c.problem, decomposition, plan.chosen, true),
                   gpu);
    if (seed % 4 > 0) continue;
    const auto other = rival(c, plan, true);
    if (!other) continue;
    try {
      expect_results(c, world, *other, c.exchange_every, gpu);
    } catch (const Error& error) {  // no kernel with this many registers or this much shared memory
      EXPECT_EQ(error.status(), Status::invalid_input) << error.what();
    }
  }
}

}  // namespace
}  // namespace spsolve
