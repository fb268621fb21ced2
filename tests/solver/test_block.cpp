// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "kernels/operator/canonical.hpp"
#include "kernels/reference.hpp"
#include "solver/block_memory.hpp"
#include "tests/kernels/operator/example_steps.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/shape_case.hpp"

namespace spsolve {
namespace {

/// Holds a random problem with a random decomposition, advanced by launches of varying depth.
struct Case {
  testing::RandomCase problem;
  int fuse, exchange_every;
  std::optional<Index3> rank_grid;

  explicit Case(const testing::ShapeCase& shape) : problem(make_problem(shape)), fuse(1), exchange_every(2) {}
  Case(int seed, int ranks)
      : problem(static_cast<std::uint64_t>(seed), 3, 1200),
        fuse(static_cast<int>(problem.between(1, 4))),
        exchange_every(1 + seed % 3),
        rank_grid(testing::random_rank_grid(problem, ranks)) {}

  std::string describe() const {
    return problem.describe() + " fuse=" + std::to_string(fuse) +
           " exchange_every=" + std::to_string(exchange_every) + " ranks=" + std::to_string((*rank_grid)[0]) +
           "x" + std::to_string((*rank_grid)[1]) + "x" + std::to_string((*rank_grid)[2]);
  }
  /// Returns the lengths of launches. Each length starts from either field, occurs more than once, and does
  /// not always follow the same length.
  std::vector<int> launches() const { return {fuse, 1, fuse, fuse, 1, fuse, fuse, 1}; }
  int steps() const { return 5 * fuse + 3; }

  std::vector<double> solve(const Communicator& communicator, const Index3& grid, Precision precision,
                            Backend& backend) const {
    Block block(communicator, {problem.domain, problem.stencil, precision, true},
                Decomposition(problem.domain.shape, grid), fuse, backend, exchange_every);
    block.set_source(testing::values_of(problem.domain, problem.source));
    block.set_state(testing::values_of(problem.domain, problem.u));
    for (const int launch_steps : launches()) block.launch(launch_steps);
    return testing::gathered(communicator, problem.domain, block.state());
  }
  /// Solves the problem on one rank with an exchange before every launch.
  std::vector<double> alone(Precision precision) const {
    const Communicator self(MPI_COMM_SELF);
    Case plain = *this;
    plain.exchange_every = 1;
    return plain.solve(self, {1, 1, 1}, precision, *testing::cpu_backend(self).backend);
  }
  /// Expects that results in fp64 match the reference within rounding.
  void expect_reference(const std::vector<double>& found) const {
    const auto expected =
        reference_steps(problem.domain, problem.stencil, problem.u, steps(), &problem.source);
    const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps(), steps() + 1.0);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], bound) << "at " << i;
  }
};

/// Blocks may be thinner than the halo, so that it comes from several neighbours away, with walls in any
/// combination and sources. In fp64 results must match the reference within rounding, and in every precision
/// they must have the bits of one rank.
TEST(Block, AnyDecompositionHasTheBitsOfOneRankAndMatchesReference) {
  const Communicator world;
  const testing::TestBackend cpus[]{testing::cpu_backend(world), testing::cpu_backend_of_boxes(world)};
  int compared = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const Case c(seed, world.size());
    if (!c.rank_grid) continue;
    ++compared;
    SCOPED_TRACE(c.describe());
    // All ranks gather the same values. The first one compares them.
    for (const Precision precision : all_precisions) {
      const std::vector<double> alone = world.root() ? c.alone(precision) : std::vector<double>{};
      for (const testing::TestBackend& cpu : cpus) {
        const std::vector<double> together = c.solve(world, *c.rank_grid, precision, *cpu.backend);
        if (world.root()) {
          EXPECT_EQ(together, alone) << to_string(precision) << " " << cpu.name;
        }
      }
      if (precision == Precision::fp64 && world.root()) {
        c.expect_reference(alone);
      }
    }
  }
  EXPECT_GT(compared, 10);
}

/// The state may be set again at any time, whatever values the halo still holds.
TEST(Block, ASecondStateIsAsGoodAsTheFirst) {
  const Communicator world;
  const auto cpu = testing::cpu_backend(world);
  for (int seed = 0; seed < 20; ++seed) {
    const Case c(seed, world.size());
    if (!c.rank_grid) continue;
    SCOPED_TRACE(c.describe());
    const Problem problem{c.problem.domain, c.problem.stencil, Precision::fp64, false};
    const auto after_launch = [&](Block& block) {
      block.set_state(testing::values_of(problem.domain, c.problem.u));
      block.launch(c.fuse);
      return testing::gathered(world, problem.domain, block.state());
    };
    Block block(world, problem, Decomposition(problem.domain.shape, *c.rank_grid), c.fuse, *cpu.backend, 3);
    const auto first = after_launch(block);
    EXPECT_EQ(after_launch(block), first);
  }
}

/// Boxes of the state must have the values of their points, wherever the block lies in memory; empty boxes
/// have none.
TEST(Block, GivesValuesOfBoxes) {
  const Communicator world;
  std::vector<testing::TestBackend> backends = testing::gpu_backends(world);
  backends.push_back(testing::cpu_backend(world));
  for (int seed = 0; seed < 20; ++seed) {
    const Case c(seed, world.size());
    if (!c.rank_grid) continue;
    SCOPED_TRACE(c.describe());
    const Domain& domain = c.problem.domain;
    for (const Precision precision : {Precision::fp64, Precision::fp16})
      for (const testing::TestBackend& other : backends) {
        const Problem problem{domain, c.problem.stencil, precision, false};
        Block block(world, problem, Decomposition(domain.shape, *c.rank_grid), 1, *other.backend);
        block.set_state(testing::values_of(domain, c.problem.u));
        const Box& owned = block.owned();
        std::vector<Box> boxes{{}, owned};
        for (int axis = 0; axis < axis_count; ++axis) {  // the last plane across each axis
          boxes.push_back(owned);
          boxes.back().begin[axis] = owned.end[axis] - 1;
        }
        const BoxValues values = block.box_values(boxes);
        const StateView view = block.view();
        const auto copy = view.scan({1, precision}).copy;
        const Field& state = copy->host_field();
        for (std::size_t i = 0; i < boxes.size(); ++i) {
          std::vector<double> expected;
          with_storage(precision, [&]<class Storage>() {
            for_each_point(boxes[i],
                           [&](const Index3& p) { expected.push_back(stored_value(*state.at<Storage>(p))); });
          });
          EXPECT_EQ(block.values_in(values, i, 0), expected) << other.name << " box " << i;
        }
      }
  }
}

/// Records the largest amount of host memory that was allocated, and how often memory was freed while work
/// was in progress.
class CountedMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override {
    std::byte* memory = host_memory().allocate(bytes, row_bytes);
    taken_ += sizes_[memory] = bytes;
    most_ = std::max(most_, taken_);
    return memory;
  }
  void free(std::byte* memory) noexcept override {
    taken_ -= sizes_[memory];
    if (busy) ++freed_early;
    host_memory().free(memory);
  }
  std::size_t most() const { return most_; }
  bool busy = false;
  int freed_early = 0;

 private:
  std::map<std::byte*, std::size_t> sizes_;
  std::size_t taken_ = 0, most_ = 0;
};

class CountingBackend : public CpuBackend {
 public:
  using CpuBackend::CpuBackend;
  Memory& memory() override { return memory_; }
  void order(Queue, Queue) override { memory_.busy = true; }
  void synchronize() override { memory_.busy = false; }
  void require_memory(std::size_t bytes) const override { required_bytes = bytes; }
  mutable std::size_t required_bytes = 0;
  std::size_t max_bytes() const { return memory_.most(); }
  int freed_early() const { return memory_.freed_early; }

 private:
  CountedMemory memory_;
};

/// Checks the memory limit by which runs are refused: the fields of the first block, which is the largest. No
/// memory may be freed while work may still use it. `set_values` gives the block its values.
template <class SetValues>
void expect_said_memory(const Problem& problem, const Method& method, int exchange_every,
                        const SetValues& set_values) {
  const Communicator self(MPI_COMM_SELF);
  MpiTransport transport(self);
  const Decomposition whole(problem.domain.shape, {1, 1, 1});
  CountingBackend backend(transport);
  {
    Block block(self, problem, whole, method, backend, exchange_every);
    set_values(block);
    EXPECT_EQ(backend.freed_early(), 0);
    block.launch(method.fuse);
  }
  const std::size_t said = block_bytes(problem, whole, method, exchange_every);
  EXPECT_EQ(backend.required_bytes, said);
  EXPECT_EQ(backend.max_bytes(), said);
}

TEST(Block, TakesTheMemoryThatIsSaid) {
  for (int seed = 0; seed < 20; ++seed)
    for (const bool has_source : {false, true})
      for (const bool fused_weights : {false, true}) {
        const Case c(seed, 1);
        SCOPED_TRACE(c.describe());
        const int exchange_every = fused_weights ? 1 : c.exchange_every;
        const Problem problem{c.problem.domain, c.problem.stencil, Precision::fp64, has_source};
        const Method method =
            fused_weights ? Method(c.fuse, UnitKind::tensor, Layout::dual_tessellation, 0.0) : Method(c.fuse);
        expect_said_memory(problem, method, exchange_every, [&](Block& block) {
          if (has_source) block.set_source(testing::values_of(problem.domain, c.problem.source));
          block.set_state(testing::values_of(problem.domain, c.problem.u));
        });
      }
}

/// One field has values one step before, the other has none, and there are two coefficients.
TEST(Block, SystemsTakeTheMemoryThatIsSaid) {
  testing::ExampleStep waves{"waves", {}, R"(
    p.next = 2*p - p.previous + (c*dt)^2*laplace(p, order=4)
    q.next = q + dt*(k*laplace(q) + p)
  )"};
  waves.names.dimensions = 2;
  waves.names.dt = 0.125;
  waves.names.fields = {"p", "q"};
  waves.names.coefficients = {"c", "k"};
  const Canonical canonical = canonical_form(testing::system_of(waves));
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const testing::RandomProblem given(waves, random, 40);
    const auto equations =
        std::make_shared<const Equations>(canonical, given.context.fields, given.context.dt);
    for (const int fuse : {1, 2, 3})
      for (const Precision precision : {Precision::fp64, Precision::fp16}) {
        SCOPED_TRACE("seed=" + std::to_string(seed) + " fuse=" + std::to_string(fuse));
        const Problem problem = system_problem(equations, precision);
        expect_said_memory(problem, Method(fuse), 1 + static_cast<int>(seed % 3), [&](Block& block) {
          for (std::size_t i = 0; i < given.state.now.size(); ++i)
            block.set_state(testing::values_of(problem.domain, given.state.now[i]), i);
          block.set_previous(testing::values_of(problem.domain, given.state.previous[0]), 0);
        });
      }
  }
}

class BlockOn : public testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BlockOn, testing::devices());

/// Blocks a few points wide in x beside walls may have an interior narrower than the reflections that it
/// reads.
TEST_P(BlockOn, NarrowBlocksBesideWallsMatchReference) {
  for (const BoundaryKind kind : {BoundaryKind::neumann, BoundaryKind::dirichlet})
    for (std::int64_t points = 1; points <= 9; ++points)
      for (const int fuse : {1, 2}) {
        const int exchange_every = static_cast<int>(1 + points % 3);
        testing::RandomCase problem(static_cast<std::uint64_t>(points));
        problem.domain = {2, {1, 5, points * world.size()}, {}};
        problem.domain.faces[x_axis] = {Face{kind, 0.25}, Face{kind, -0.5}};
        problem.stencil = Stencil({1, 1, 7}, {0.1, -0.2, 0.3, 0.1, 0.05, -0.15, 0.1}, {0, 0, 3});
        problem.u = problem.uniform(problem.domain.box().points());
        Block block(world, {problem.domain, problem.stencil, Precision::fp64, false},
                    Decomposition(problem.domain.shape, {1, 1, world.size()}), fuse, backend(),
                    exchange_every);
        block.set_state(testing::values_of(problem.domain, problem.u));
        constexpr int launches = 4;
        for (int launch = 0; launch < launches; ++launch) block.launch(fuse);
        const auto found = testing::gathered(world, problem.domain, block.state());
        const int steps = launches * fuse;
        const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps);
        const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps, 1.0);
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(found[i], expected[i], bound) << points << " points per rank, fuse " << fuse
                                                    << ", exchange_every " << exchange_every << ", at " << i;
      }
}

/// On GPUs, results must have the bits of the CPU unit with any transport, if storage has the precision of
/// the sums. That also holds for 16-bit formats, since both round once per launch.
TEST(Block, GpusHaveTheBitsOfTheCpu) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
  for (int seed = 0; seed < 10; ++seed) {
    const Case c(seed, world.size());
    if (!c.rank_grid) continue;
    SCOPED_TRACE(c.describe());
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
      for (const auto& gpu : gpus)
        EXPECT_EQ(c.solve(world, *c.rank_grid, precision, *gpu.backend), c.alone(precision))
            << to_string(precision) << " " << gpu.name;
  }
}

/// Rows consist of whole tiles, where kernels wrap indices, or have periodic copies; x is cut or not.
TEST(Block, GpusFindWhatIsBeyondTheEndsOfRows) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
  for (int seed = 0; seed < 4; ++seed) {
    Case c(seed, 1);
    auto& problem = c.problem;
    problem.domain.dimensions = 3;
    problem.domain.faces[x_axis] = {};
    problem.domain.shape[x_axis] =
        seed % 2 ? 128 * (seed + 1)
                 : 2 * c.exchange_every * c.fuse * problem.stencil.radius()[x_axis] + 16 + 7 * seed;
    const int cut = seed % 3 == 2 ? x_axis : z_axis;
    problem.domain.shape[cut] = std::max<std::int64_t>(problem.domain.shape[cut], world.size());
    problem.u = problem.uniform(problem.domain.box().points());
    problem.source = problem.uniform(problem.domain.box().points());
    Index3 rank_grid{1, 1, 1};
    rank_grid[cut] = world.size();
    SCOPED_TRACE(c.describe());
    for (const Precision precision : {Precision::fp64, Precision::bf16})
      for (const auto& gpu : gpus)
        EXPECT_EQ(c.solve(world, rank_grid, precision, *gpu.backend), c.alone(precision))
            << to_string(precision) << " " << gpu.name;
  }
}

/// Tiles in shared memory take single steps along axes that are not cut; edges of blocks may be too small for
/// them.
TEST(Block, GpusFindWhatIsBeyondTheEndsOfAxesOfSingleSteps) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
  const std::int64_t n = world.size();
  const auto periodic = BoundaryKind::periodic, neumann = BoundaryKind::neumann;
  for (const auto& [shape, cut, wraps] :
       {std::tuple{testing::ShapeCase{"box", {40 * n, 112, 64}, {3, 3, 3}, false, periodic, Precision::fp64},
                   z_axis, std::array{n == 1, true, true}},
        {{"box", {112, 40 * n, 64}, {3, 3, 3}, false, periodic, Precision::fp64},
         y_axis,
         {true, n == 1, true}},
        {{"star", {40 * n, 192, 192}, {6, 5, 6}, true, neumann, Precision::fp32},
         z_axis,
         {false, false, true}},
        {{"plane", {1, 800 * n, 1000}, {0, 12, 11}, true, periodic, Precision::fp32},
         y_axis,
         {false, n == 1, true}}}) {
    Case c(shape);
    c.problem.domain.faces[x_axis] = {};
    Index3 rank_grid{1, 1, 1};
    rank_grid[cut] = n;
    const Problem problem{c.problem.domain, c.problem.stencil, shape.precision, true};
    for (const auto& gpu : gpus) {
      EXPECT_EQ(
          gpu.backend->wrapped_axes(problem, c.fuse, Decomposition(shape.shape, rank_grid).block(0).extent()),
          wraps)
          << shape.name << " " << gpu.name;
      EXPECT_EQ(c.solve(world, rank_grid, shape.precision, *gpu.backend), c.alone(shape.precision))
          << shape.name << " " << gpu.name;
    }
  }
}

}  // namespace
}  // namespace spsolve
