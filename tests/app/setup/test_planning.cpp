// SPDX-License-Identifier: Apache-2.0
#include "app/setup/planning.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "app/run/point_sources.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/tune.hpp"
#include "app/values/fill_block.hpp"
#include "io/input/config.hpp"
#include "kernels/catalogue/presets.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

Problem problem() {
  return {{2, {1, 4096, 4096}, {}}, make_preset("box2d3r", 2, {1, 1, 1}, {}), Precision::fp16, false};
}

StoredPlan begun_plan(const PlanRequest& request) {
  return parse_plan(to_json(make_plan(problem(), nominal_gpu(), request)));
}

TEST(ContinuedPlan, IsTheSameWhateverIsAcceptedNow) {
  const PlanRequest separable{UnitKind::sparse_tensor, Layout::separable, 3};
  const Candidate begun = make_plan(problem(), nominal_gpu(), separable).chosen;
  PlanRequest looser;
  looser.accuracy = 0.5;
  const ContinuedRequest continued = continue_plan(looser, problem(), nominal_gpu(), begun_plan(separable));
  EXPECT_EQ(continued.note, "");
  const Candidate chosen = make_plan(problem(), nominal_gpu(), continued.request).chosen;
  EXPECT_TRUE(is_same_method(chosen, begun));
  EXPECT_EQ(chosen.dropped, begun.dropped);
}

TEST(ContinuedPlan, IsMadeAnewWithAWordWhereLessErrorIsAccepted) {
  PlanRequest stricter;
  stricter.accuracy = 1e-9;
  const ContinuedRequest continued =
      continue_plan(stricter, problem(), nominal_gpu(), begun_plan({UnitKind::sparse_tensor}));
  EXPECT_THAT(continued.note, ::testing::HasSubstr("compute.accuracy"));
  EXPECT_FALSE(continued.request.unit);
  EXPECT_EQ(continued.request.precision, Precision::fp16);
}

TEST(ContinuedPlan, SaysThatCpusHaveNoTensorCores) {
  const StoredPlan begun = begun_plan({UnitKind::sparse_tensor});
  const ContinuedRequest continued = continue_plan({}, problem(), nominal_cpu(), begun);
  EXPECT_THAT(continued.note, ::testing::HasSubstr("tensor cores"));
  EXPECT_EQ(continued.request.precision, Precision::fp16);
  EXPECT_EQ(make_plan(problem(), nominal_cpu(), continued.request).chosen.unit, UnitKind::scalar);
  const ContinuedRequest emulated = continue_plan({UnitKind::sparse_tensor}, problem(), nominal_cpu(), begun);
  EXPECT_EQ(emulated.note, "");
  EXPECT_TRUE(emulated.request.fuse.has_value());
}

TEST(ContinuedPlan, GivesWayToAnotherUnitOrLayout) {
  for (const PlanRequest& other : {PlanRequest{UnitKind::scalar}, PlanRequest{{}, Layout::separable}}) {
    const ContinuedRequest continued = continue_plan(
        other, problem(), nominal_gpu(), begun_plan({UnitKind::sparse_tensor, Layout::strided_swap, 2}));
    EXPECT_EQ(continued.request.unit, other.unit);
    EXPECT_EQ(continued.request.layout, other.layout);
    EXPECT_FALSE(continued.request.fuse);
  }
}

TEST(ContinuedPlan, ThatCannotBeReadIsAnError) {
  for (const char* text : {"", "{", "[]", "{}", R"({"fuse": 0, "precision": "fp64"})", R"({"fuse": 1})"})
    EXPECT_THROW(parse_plan(text), Error) << text;
}

TEST(AgreedPlan, IsThatOfOneRank) {
  const Communicator world;
  const Plan plan = make_plan(problem(), nominal_gpu(), {});
  const Plan agreed = agreed_plan(world, problem(), nominal_gpu(), {});
  EXPECT_TRUE(is_same_method(agreed.chosen, plan.chosen));
  EXPECT_EQ(agreed.chosen.dropped, plan.chosen.dropped);
  EXPECT_EQ(to_json(agreed), to_json(plan));
  // The exchange interval follows from the seconds: ranks with different values would exchange messages of
  // different sizes.
  EXPECT_EQ(agreed.chosen.seconds, plan.chosen.seconds);
}

/// Events that cut launches short, beyond the most frequent ones, cause single steps that round once more.
TEST(PlanRequest, KnowsTheEvents) {
  RunConfig config;
  const auto events_of = [&](std::int64_t steps, std::int64_t output, std::int64_t checkpoint,
                             std::int64_t diagnostics) {
    config.time.steps = steps;
    config.output.every = output;
    config.checkpoint.every = checkpoint;
    config.diagnostics.every = diagnostics;
    const EventPattern events = plan_request(config, problem()).events;
    return std::tuple{events.every, events.last_alone, events.cuts};
  };
  EXPECT_EQ(events_of(0, 0, 0, 0), std::tuple(0, false, 0.0));
  EXPECT_EQ(events_of(0, 10, 0, 20), std::tuple(0, false, 0.0));
  EXPECT_EQ(events_of(100, 0, 0, 0), std::tuple(100, true, 0.0));
  EXPECT_EQ(events_of(100, 0, 0, 1), std::tuple(1, false, 0.0));
  EXPECT_EQ(events_of(100, 0, 0, 20), std::tuple(20, true, 0.0));
  EXPECT_EQ(events_of(100, 50, 20, 0), std::tuple(20, false, 1.0 / 100 + 1.0 / 50));
  EXPECT_EQ(events_of(1000, 100, 0, 500), std::tuple(100, false, 1.0 / 1000 + 1.0 / 500));
  // Diagnostics of the last step need the step before it.
  config.images = {{"rare", "u", 30, {}}, {"often", "u", 4, {}}};
  EXPECT_EQ(events_of(1000, 100, 0, 0), std::tuple(4, false, 1.0 / 1000 + 1.0 / 30));
}

TEST(CandidatesToTime, AreThoseThatMayBeFastestWhereTimingPays) {
  const Plan plan = make_plan(problem(), nominal_gpu(), {});
  const auto points = static_cast<double>(problem().domain.box().points());
  const double step = plan.chosen.seconds * points;
  const auto all = candidates_to_time(plan, points, {});
  EXPECT_EQ(all.size(), 6u);
  const auto steps_of = [&](double seconds) { return static_cast<std::int64_t>(seconds / step); };
  const auto for_hours = candidates_to_time(plan, points, steps_of(7200));
  EXPECT_GT(for_hours.size(), 1u);
  EXPECT_LT(for_hours.size(), all.size());
  for (const Candidate& candidate : for_hours) EXPECT_LE(candidate.seconds, 1.5 * plan.chosen.seconds);
  // Two candidates take longer than 4 s, a fiftieth of 200 s.
  EXPECT_TRUE(candidates_to_time(plan, points, steps_of(200)).empty());
  EXPECT_TRUE(candidates_to_time(plan, points, 0).empty());

  PlanRequest one{UnitKind::scalar};
  one.fuse = 4;
  EXPECT_TRUE(candidates_to_time(make_plan(problem(), nominal_gpu(), one), points, steps_of(7200)).empty());
}

/// Keeps what is tuned in a directory of its own.
class TunedPlan : public ::testing::Test {
 protected:
  TunedPlan() {
    EXPECT_TRUE(mkdtemp(cache_.data()));
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
  }
  ~TunedPlan() override { std::filesystem::remove_all(cache_); }

  spsolve::Setup setup_of(const std::string& step) {
    constexpr const char* input = R"toml(
      grid = {shape = [12, 64], spacing = [1.0, 1.0]}
      boundary = {y = "periodic", x = "periodic"}
      fields.u.initial = 1.0
      time = {dt = 0.1, steps = 1}
      compute = {device = "cpu", precision = "fp32"}
    )toml";
    return make_setup(world_, parse_config(input, "input.toml", {"equations.step=" + step}), tables_);
  }
  /// Returns what is tuned among the candidates that a plan has on the root. Only the root knows the
  /// candidates of a plan, so no other rank may decide by them.
  std::optional<StoredPlan> tuned(const spsolve::Setup& setup, const PlanRequest& request, Plan plan) {
    if (!world_.root()) plan.candidates.clear();
    return tuned_plan(world_, setup.problem, request, plan, {}, setup.device, setup.config.parallel, quiet_);
  }

  const Communicator world_;
  const Terminal quiet_{world_, true};

 private:
  std::string cache_ = "tuned_plan.XXXXXX";
  spsolve::Tables tables_{world_};
};

TEST_F(TunedPlan, OfASystemIsTheSameOnEveryRank) {
  const spsolve::Setup setup = setup_of("u.next = u + dt*(laplace(u) - u^3)");
  Plan plan = setup.plan;
  plan.candidates = {plan.chosen, plan.chosen};
  plan.candidates.back().precision = Precision::bf16;
  const auto found = tuned(setup, {}, plan);
  ASSERT_TRUE(found);
  const auto chosen = static_cast<double>(found->chosen.precision);
  EXPECT_EQ(world_.all_reduce(chosen, MPI_MIN), world_.all_reduce(chosen, MPI_MAX));
}

/// Strides that begin anew after every checkpoint err by more than they promise, so runs with checkpoints
/// must not take a stride that was tuned for runs without them.
TEST_F(TunedPlan, IsOneOfThePlansOwnCandidates) {
  const spsolve::Setup setup = setup_of("u.next = 2*u - u.previous + dt^2*laplace(u)");
  PlanRequest request;
  request.events = {60, true, 0, 3000, 0};
  const auto plan_of = [&](std::int64_t checkpoints) {
    request.events.checkpoints = checkpoints;
    Plan plan = make_plan(setup.problem, nominal_gpu(), request);
    std::erase_if(plan.candidates, [](const Candidate& c) {  // these few are timed in moments
      return c.strided ? c.layout != Layout::strided_swap || c.fuse > 2 : c.fuse > 1;
    });
    return plan;
  };
  const auto is_strided = [](const Candidate& candidate) { return candidate.strided; };
  const Plan with_checkpoints = plan_of(60), without = plan_of(0);
  ASSERT_TRUE(std::ranges::none_of(with_checkpoints.candidates, is_strided));
  ASSERT_TRUE(std::ranges::any_of(without.candidates, is_strided));
  ASSERT_TRUE(tuned(setup, request, without));
  const auto remembered = [&](const Plan& plan) {
    return remembered_plan(world_, setup.problem, request, plan, setup.device, quiet_).has_value();
  };
  EXPECT_TRUE(remembered(without));
  EXPECT_FALSE(remembered(with_checkpoints));
}

/// Is a [stencil] with a point source and receivers.
constexpr const char* heat_with_points = R"toml(
grid.shape = [40, 64]
boundary = { y = "neumann", x = { dirichlet = 0.5 } }
stencil = { preset = "heat", diffusivity = 0.2, dt = 0.5 }
initial.expression = "sin(x) + y/40"
time.steps = 6
point_sources = [{ at = [20.25, 3.5], value = "cos(t)" }]
probes = [{ name = "p", at = [[20.0, 3.0]] }]
)toml";

/// Compares plans and values of a stencil with points and of the equation that replaces it on GPUs.
class StencilWithPoints : public ::testing::Test {
 protected:
  static RunConfig config(const std::vector<std::string>& changes = {}) {
    return parse_config(heat_with_points, "heat.toml", changes);
  }
  spsolve::Setup setup_of(const RunConfig& config, const DeviceModel& model,
                          const std::optional<StoredPlan>& continued = {}) {
    return make_setup(world_, config, tables_, continued, model);
  }
  /// Returns the values after six launches of single steps on a CPU.
  std::vector<double> values(const spsolve::Setup& setup) {
    const Machine machine = make_machine(world_, {}, {});
    Block block(world_, setup.problem, setup.decomposition, Method(1), *machine.backend);
    fill_block(world_, setup.config, setup.problem, {}, block, [](const auto&, const auto&) {});
    PointSources sources(world_, setup.config, tables_, setup.problem, block);
    block.set_points({sources.added(), sources.columns(), {}},
                     [&](std::int64_t step, std::span<double> amounts) { sources.amounts(step, amounts); });
    for (int step = 0; step < 6; ++step) block.launch(1);
    return testing::gathered(world_, setup.problem.domain, block.state());
  }

  const Communicator world_;
  spsolve::Tables tables_{world_};
};

TEST_F(StencilWithPoints, IsItsEquationOnGpusAndHasTheSameBits) {
  for (const char* precision : {"fp64", "fp32", "fp16", "bf16"})
    for (const bool has_source : {false, true}) {
      std::vector<std::string> changes{std::string("compute.precision=") + precision};
      if (has_source) changes.emplace_back("source={expression=\"x*y/100\", rate=true}");
      const RunConfig given = config(changes);
      changes.emplace_back("time.fuse=2");
      const RunConfig fused = config(changes);
      const spsolve::Setup on_cpu = setup_of(given, nominal_cpu()), on_gpu = setup_of(fused, nominal_gpu());
      EXPECT_FALSE(on_cpu.problem.equations);
      ASSERT_TRUE(on_gpu.problem.equations);
      EXPECT_EQ(values(on_gpu), values(on_cpu)) << precision << has_source;
      // Checkpoints of either continue as the other.
      EXPECT_EQ(on_gpu.checksum, on_cpu.checksum);
      EXPECT_EQ(to_toml(on_gpu.config), to_toml(fused));
      if (has_source) continue;
      EXPECT_GT(setup_of(given, nominal_gpu()).plan.chosen.fuse, 1) << precision;
    }
}

TEST_F(StencilWithPoints, StaysAStencilWhereItsEquationIsNoFaster) {
  const spsolve::Setup with_rare_rows = setup_of(
      config({"point_sources=[]", "probes.0.every=1000", "time.steps=1000", "grid.shape=[4096, 4096]"}),
      nominal_gpu());
  EXPECT_FALSE(with_rare_rows.problem.equations);
  EXPECT_GT(with_rare_rows.plan.chosen.fuse, 1);
  const spsolve::Setup wide =
      setup_of(config({"stencil={preset=\"box2d7r\"}", "grid.shape=[4096, 4096]"}), nominal_gpu());
  EXPECT_FALSE(wide.problem.equations);
  EXPECT_EQ(wide.plan.chosen.fuse, 1);
}

TEST_F(StencilWithPoints, TakesAsManyStepsPerLaunchAsItIsAskedFor) {
  const RunConfig given = config({"time.fuse=3"});
  EXPECT_EQ(setup_of(given, nominal_gpu()).plan.chosen.fuse, 3);
  EXPECT_THROW(setup_of(given, nominal_cpu()), Error);
  EXPECT_THROW(setup_of(config({"time.fuse=3", "compute.precision=tf32"}), nominal_gpu()), Error);
}

TEST_F(StencilWithPoints, ContinuesAsItBegan) {
  const spsolve::Setup begun = setup_of(config(), nominal_gpu());
  const StoredPlan stored = parse_plan(to_json(begun.plan));
  const spsolve::Setup on_gpu = setup_of(config(), nominal_gpu(), stored);
  EXPECT_TRUE(on_gpu.problem.equations);
  EXPECT_EQ(on_gpu.plan.chosen.fuse, begun.plan.chosen.fuse);
  EXPECT_EQ(on_gpu.checksum, begun.checksum);
  const spsolve::Setup on_cpu = setup_of(config(), nominal_cpu(), stored);
  EXPECT_FALSE(on_cpu.problem.equations);
  EXPECT_EQ(on_cpu.plan.chosen.fuse, 1);
  // Plans of former versions do not say what they are of.
  const StoredPlan former = parse_plan(R"({"device": "cuda", "unit": "scalar", "layout": "none", "fuse": 1,
                                           "precision": "fp64", "dropped": 0})");
  const spsolve::Setup continued = setup_of(config(), nominal_gpu(), former);
  EXPECT_FALSE(continued.problem.equations);
  EXPECT_EQ(continued.plan.chosen.fuse, 1);
}

}  // namespace
}  // namespace spsolve
