// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "kernels/catalogue/presets.hpp"
#include "kernels/error.hpp"
#include "solver/plan/model_of_ranks.hpp"
#include "solver/plan/plan.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

Problem problem_of(const char* preset, const Index3& shape) {
  const int dimensions = *preset_dimensions(preset);
  return {{dimensions, shape, {}}, make_preset(preset, dimensions, {1, 1, 1}, {}), Precision::fp64, false};
}

TEST(Plan, ChoosesTheFastestCandidateOfTheModel) {
  const Plan plan = make_plan(problem_of("star2d1r", {1, 4096, 4096}), nominal_cpu(), {});
  for (const Candidate& candidate : plan.candidates) EXPECT_LE(plan.chosen.seconds, 1.01 * candidate.seconds);
  EXPECT_GT(plan.chosen.fuse, 1) << "five taps leave the cores idle while memory is read";
}

TEST(Plan, KeepsTheDepthThatIsAskedFor) {
  for (const int fuse : {1, 3, 40}) {
    const Plan plan = make_plan(problem_of("box3d1r", {64, 64, 64}), nominal_cpu(), {{}, {}, fuse});
    EXPECT_EQ(plan.chosen.fuse, fuse);
  }
}

TEST(Plan, TrafficFallsAndRecomputationGrowsWithDepth) {
  const Plan plan = make_plan(problem_of("star3d1r", {256, 256, 256}), nominal_cpu(), {});
  for (std::size_t i = 1; i < plan.candidates.size(); ++i) {
    EXPECT_LT(plan.candidates[i].bytes, plan.candidates[i - 1].bytes);
    EXPECT_GE(plan.candidates[i].fma, plan.candidates[i - 1].fma);
  }
  EXPECT_DOUBLE_EQ(plan.candidates.front().bytes, 16.0);
  EXPECT_DOUBLE_EQ(plan.candidates.front().fma, 7.0);
}

TEST(Plan, RequestsThatNoKernelMeetsAreErrors) {
  Problem problem = problem_of("star2d1r", {1, 64, 64});
  const auto refused = [&](const DeviceModel& device, const PlanRequest& request) {
    EXPECT_THROW(make_plan(problem, device, request), Error)
        << name_or(request.unit, "auto") << " " << name_or(request.layout, "auto");
  };
  for (const DeviceModel& device : {nominal_cpu(), nominal_gpu()}) {
    refused(device, {UnitKind::scalar, Layout::morph});
    refused(device, {UnitKind::sparse_tensor, {}});  // fp64
    problem.precision = Precision::fp16;
    refused(device, {{}, fp64_layout(device.gpu)});
    refused(device, {UnitKind::tensor, Layout::separable});
    refused(device, {UnitKind::tensor, {}, 400});  // 801 x 801 weights
    problem.precision = Precision::fp64;
  }
}

/// Returns the message with which a request is refused, or an empty text if it is not.
std::string refusal(const Problem& problem, const DeviceModel& device, const PlanRequest& request) try {
  make_plan(problem, device, request);
  return "";
} catch (const Error& error) {
  return error.what();
}

TEST(Plan, RefusalsSayWhatForbidsEveryMethodWithItsNumber) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::ContainsRegex, ::testing::Not;
  // The kernel exists; four fused steps of such weights err by more than fp32 promises.
  std::mt19937_64 random(2);
  std::vector<double> weights;
  for (int i = 0; i < 18; ++i) weights.push_back(std::uniform_real_distribution(-1.0, 1.0)(random));
  const Problem cube{{3, {40, 50, 60}, {}}, Stencil({3, 2, 3}, weights, {1, 1, 1}), Precision::fp32, false};
  EXPECT_THAT(refusal(cube, nominal_gpu(), {UnitKind::sparse_tensor, {}, 4}),
              AllOf(HasSubstr("h200"), HasSubstr("sparse-tensor morph in fp32, 4 steps per launch: promise"),
                    ContainsRegex("up to [0-9.]+ times"), HasSubstr("promises 4 times")));
  PlanRequest accepted{UnitKind::sparse_tensor, {}, 4};
  accepted.accuracy = 1.0;
  EXPECT_EQ(refusal(cube, nominal_gpu(), accepted), "");
  accepted.accuracy = 1e-30;
  EXPECT_THAT(refusal(cube, nominal_gpu(), accepted), HasSubstr("nothing keeps it"));

  Problem plane = problem_of("star2d1r", {1, 64, 64});
  EXPECT_THAT(refusal(plane, nominal_gpu(), {UnitKind::sparse_tensor, Layout::morph}),
              HasSubstr("no kernel: fp64 has"));
  EXPECT_THAT(refusal(plane, nominal_gpu(), {UnitKind::scalar, Layout::morph}), HasSubstr("no layouts"));
  plane.precision = Precision::fp16;
  EXPECT_THAT(refusal(plane, nominal_gpu(), {UnitKind::tensor, Layout::morph, 400}),
              HasSubstr("memory: fused steps would have 641601 weights, 524288 at most"));
  DeviceModel older = nominal_gpu();
  older.compute_capability = 75;
  EXPECT_THAT(refusal(plane, older, {UnitKind::sparse_tensor, Layout::morph, 2}),
              HasSubstr("this one has 7.5"));
}

TEST(Plan, KeepsTheReasonOfEveryMethodThatIsLeftOut) {
  Problem problem = problem_of("star2d1r", {1, 4096, 4096});
  problem.precision = Precision::fp32;
  PlanRequest request;
  request.events = {6, false};
  const Plan plan = make_plan(problem, nominal_gpu(), request);
  std::set<std::tuple<UnitKind, std::optional<Layout>, int>> seen;
  for (const Candidate& candidate : plan.candidates)
    EXPECT_TRUE(seen.emplace(candidate.unit, candidate.layout, candidate.fuse).second);
  for (const RejectedMethod& rejected : plan.rejected) {
    EXPECT_TRUE(seen.emplace(rejected.method.unit, rejected.method.layout, rejected.method.fuse).second);
    EXPECT_FALSE(rejected.refusal.why.empty());
    if (rejected.method.fuse > 6 && rejected.refusal.obstacle == Obstacle::depth) {
      EXPECT_THAT(rejected.refusal.why, ::testing::HasSubstr("every 6 steps"));
    }
  }
  EXPECT_EQ(seen.size(), 16u + 6u * 17u + 23u) << "every unit, layout and depth is a candidate or is left out";
  for (const std::string& line : describe(plan.rejected))
    EXPECT_THAT(line, ::testing::ContainsRegex("^[a-z, -]+ in fp32, .* per launch: "));
}

TEST(Plan, RequestedUnitsAndLayoutsAreTaken) {
  for (const DeviceModel& device : {nominal_cpu(), nominal_gpu()}) {
    Problem problem = problem_of("box2d1r", {1, 256, 256});
    for (const auto& asked : {std::optional<Layout>(), std::optional(Layout::natural_order),
                              std::optional(Layout::dual_tessellation)}) {
      const Plan plan = make_plan(problem, device, {UnitKind::tensor, asked});
      EXPECT_EQ(plan.chosen.layout, fp64_layout(device.gpu));
      EXPECT_EQ(plan.note.empty(), !asked || asked == fp64_layout(device.gpu)) << plan.note;
    }
    problem.precision = Precision::bf16;
    for (const Layout layout : {Layout::strided_swap, Layout::morph, Layout::separable}) {
      const Plan plan = make_plan(problem, device, {UnitKind::sparse_tensor, layout, 3});
      EXPECT_EQ(plan.chosen.unit, UnitKind::sparse_tensor);
      EXPECT_EQ(plan.chosen.layout, layout);
      EXPECT_EQ(plan.chosen.fuse, 3);
    }
  }
}

TEST(Plan, CpusDoNotEmulateUnasked) {
  Problem problem = problem_of("box2d1r", {1, 256, 256});
  problem.precision = Precision::fp16;
  const Plan plan = make_plan(problem, nominal_cpu(), {});
  for (const Candidate& candidate : plan.candidates) EXPECT_EQ(candidate.unit, UnitKind::scalar);
  EXPECT_THAT(describe(plan.rejected),
              ::testing::Contains(
                  ::testing::AllOf(::testing::HasSubstr("tensor strided-swap"),
                                   ::testing::HasSubstr("sparse-tensor separable in fp16"),
                                   ::testing::HasSubstr("no kernel: CPUs emulate tensor cores, slowly"))));
}

/// Returns the problem with dirichlet walls. Walls with reflections cost nothing; other walls take single
/// steps. Walls with different values across two axes have no reflections.
Problem with_walls(Problem problem, bool reflections) {
  for (const int axis : {y_axis, x_axis})
    for (Face& face : problem.domain.faces[axis])
      face = {BoundaryKind::dirichlet, reflections ? 0.5 : static_cast<double>(axis)};
  return problem;
}

TEST(Plan, LaunchesFitBetweenEvents) {
  const Problem problem = problem_of("star2d1r", {1, 4096, 4096});
  for (const DeviceModel& device : {nominal_cpu(), nominal_gpu()})
    for (const std::int64_t every : {1, 2, 5, 9}) {
      PlanRequest request;
      request.events = {every, false};
      EXPECT_LE(make_plan(problem, device, request).chosen.fuse, every) << device.name;
    }
}

TEST(Plan, WallsCostDeepFusedWeights) {
  Problem problem = problem_of("box2d1r", {1, 800, 800});
  problem.precision = Precision::fp16;
  const Candidate periodic = make_plan(problem, nominal_gpu(), {}).chosen,
                  with_reflections = make_plan(with_walls(problem, true), nominal_gpu(), {}).chosen;
  const Plan walled = make_plan(with_walls(problem, false), nominal_gpu(), {});
  EXPECT_TRUE(periodic.fused_weights());
  EXPECT_EQ(with_reflections.fuse, periodic.fuse);
  EXPECT_EQ(with_reflections.wall_seconds, 0.0);
  EXPECT_LT(walled.chosen.fuse, periodic.fuse);
  std::map<int, double> wall_seconds;  // key: depth, value: seconds per launch
  for (const Candidate& candidate : walled.candidates)
    if (candidate.layout == Layout::separable)
      wall_seconds[candidate.fuse] = candidate.wall_seconds * candidate.fuse;
  ASSERT_GT(wall_seconds.size(), 1u);
  EXPECT_GT(wall_seconds.begin()->second, 0.0);
  EXPECT_GT(wall_seconds.rbegin()->second, wall_seconds.begin()->second);
}

TEST(Plan, TheBestCandidatesAreOneOfEachKindAndThenOtherDepths) {
  Problem problem = problem_of("box2d1r", {1, 4096, 4096});
  problem.precision = Precision::fp16;
  const Plan plan = make_plan(problem, nominal_gpu(), {});
  const auto best = best_candidates(plan, 100);
  const auto kind = [](const Candidate& c) { return std::pair(c.unit, c.layout); };
  std::set<std::pair<UnitKind, std::optional<Layout>>>
      kinds;  // scalar, tensor with 2 layouts, sparse-tensor with 3
  for (const Candidate& candidate : plan.candidates) kinds.insert(kind(candidate));
  ASSERT_EQ(kinds.size(), 6u);
  std::set<std::pair<UnitKind, std::optional<Layout>>> seen;
  bool repeated = false;
  for (const Candidate& candidate : best) {
    const bool is_new = seen.insert(kind(candidate)).second;
    repeated = repeated || !is_new;
    if (is_new && repeated) {
      EXPECT_GT(candidate.seconds, 3 * best.front().seconds) << "only what is slow comes last";
    }
  }
  EXPECT_EQ(seen, kinds);
  for (const Candidate& a : best)
    for (const Candidate& b : best) {
      if (&a == &b || kind(a) != kind(b)) continue;
      EXPECT_GE(4 * std::max(a.fuse, b.fuse), 5 * std::min(a.fuse, b.fuse));
    }
}

TEST(Plan, KeepsWhatSeparableSweepsDropped) {
  Problem problem = problem_of("box2d3r", {1, 4096, 4096});
  problem.precision = Precision::fp16;
  PlanRequest request{UnitKind::sparse_tensor, Layout::separable, 3};
  const Candidate begun = make_plan(problem, nominal_gpu(), request).chosen;
  request.accuracy = 0.5;
  EXPECT_GT(make_plan(problem, nominal_gpu(), request).chosen.dropped, begun.dropped);
  request.dropped = begun.dropped;
  const Candidate continued = make_plan(problem, nominal_gpu(), request).chosen;
  EXPECT_EQ(continued.dropped, begun.dropped);
  EXPECT_EQ(continued.terms, begun.terms);
}

TEST(Plan, IsMadeForAnyStencil) {
  for (int seed = 0; seed < 24; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const auto zoo = testing::random_zoo_stencil(random);
    Problem problem{{3, {300, 300, 300}, {}}, zoo.stencil, all_precisions[seed % 5], false};
    EXPECT_NO_THROW(make_plan(problem, nominal_gpu(), {})) << zoo.name;
  }
  // There is no tap at the point itself, nor on one side of it.
  for (const Precision precision : all_precisions) {
    const Problem upwind{
        {1, {1, 1, 1000000}, {}}, Stencil({1, 1, 3}, {0.5, 0.5, 0}, {0, 0, 2}), precision, false};
    EXPECT_NO_THROW(make_plan(upwind, nominal_gpu(), {})) << to_string(precision);
  }
}

TEST(Plan, BoundsOfSingleStepsDoNotGrowWhereEventsCutLaunches) {
  Problem problem = problem_of("box2d1r", {1, 512, 512});
  problem.precision = Precision::fp32;
  const EventPattern events{3, true, 0.4};
  const auto bound = [&](int fuse) {
    return mean_error(problem, evaluate(problem, nominal_cpu(), Method(fuse)), events);
  };
  EXPECT_GT(bound(1), 0);
  EXPECT_LE(bound(2), bound(1));
  EXPECT_LE(bound(7), bound(1));
}

TEST(DeviceModel, IsInProportionToMeasuredCeilings) {
  const DeviceModel nominal = nominal_gpu();
  Ceilings ceilings{"half of it", {{"copy", "B/s", 0, 4.071e12 / 2}}, {{4096, 1e-5}, {1 << 24, 1e-3}}};
  const DeviceModel model = scaled_model(nominal, ceilings);
  EXPECT_DOUBLE_EQ(model.bandwidth, nominal.bandwidth / 2);
  EXPECT_EQ(model.scalar_fp64, nominal.scalar_fp64);
  EXPECT_DOUBLE_EQ(model.exchange_seconds(2 * 4096, true), 1e-5);
  EXPECT_DOUBLE_EQ(model.exchange_seconds(2 << 24, true), 1e-3);
  EXPECT_THAT(model.origin, ::testing::HasSubstr("half of it"));
}

TEST(DeviceModel, ExchangesTakeWhatWasMeasured) {
  const DeviceModel device = nominal_gpu();
  ASSERT_GE(device.node_exchange.size(), 2u);
  // A row is the time for messages of row.bytes to each of two neighbours.
  for (const ExchangeTime& row : device.node_exchange)
    EXPECT_DOUBLE_EQ(device.exchange_seconds(2 * row.bytes, true), row.seconds) << row.bytes;
  const ExchangeTime &least = device.node_exchange.front(), &most = device.node_exchange.back();
  EXPECT_DOUBLE_EQ(device.exchange_seconds(8, true), least.seconds);
  EXPECT_DOUBLE_EQ(device.exchange_seconds(6 * most.bytes, true), 3 * most.seconds);
  double last = 0;
  for (double bytes = 1; bytes < 1e9; bytes *= 1.5) {
    EXPECT_GE(device.exchange_seconds(bytes, true), last);
    last = device.exchange_seconds(bytes, true);
  }
}

TEST(DeviceModel, HalosArriveBesideTheInteriorAsMeasured) {
  // These were measured in launches on 4 H200 (docs/log/scaling.md): bytes to each of two neighbours,
  // microseconds after packing.
  for (const auto& [bytes, microseconds] : {std::pair{4.2e6, 75.0}, {16.9e6, 240.0}, {33.5e6, 380.0}})
    EXPECT_NEAR(nominal_gpu().exchange_seconds(2 * bytes, true), 1e-6 * microseconds, 0.2e-6 * microseconds);
}

TEST(Plan, AccuracyAllowsCoarserPrecisionsThatKeepIt) {
  const Problem problem = problem_of("star2d1r", {1, 4096, 4096});
  PlanRequest request;
  request.events.steps = 2;
  Precision last = Precision::fp64;
  for (const double accuracy : {1e-14, 1e-6, 1e-2}) {
    request.accuracy = accuracy;
    const Plan plan = make_plan(problem, nominal_gpu(), request);
    EXPECT_LE(run_error(problem, plan.chosen, request.events), accuracy);
    EXPECT_GE(unit_roundoff(plan.chosen.precision), unit_roundoff(last)) << accuracy;
    last = plan.chosen.precision;
  }
  EXPECT_EQ(last, Precision::bf16);
  // Errors of steps add up: a longer run needs a finer precision.
  request.events.steps = 1000;
  EXPECT_EQ(make_plan(problem, nominal_gpu(), request).chosen.precision, Precision::fp32);
  request.events.steps = 10'000'000'000;
  EXPECT_EQ(make_plan(problem, nominal_gpu(), request).chosen.precision, Precision::fp64);
  request.accuracy = 1e-30;
  EXPECT_THROW(make_plan(problem, nominal_gpu(), request), Error);
}

/// Errors grow with the difference between fused weights and their two terms of tf32. Single steps by weights
/// that fp32 has to round have errors, too. A method that the user accepts by name is taken.
TEST(Plan, KeepsThePromiseOfFp32) {
  const Domain line{1, {1, 1, 100'000'000}, {}};
  const Problem halves{line, Stencil({1, 1, 3}, {0.25, 0.5, 0.25}, {0, 0, 1}), Precision::fp32, false};
  const Problem tenths{line, Stencil({1, 1, 3}, {0.2, 0.5, 0.3}, {0, 0, 1}), Precision::fp32, false};
  const auto kept = [](const Problem& problem, int fuse) {
    return keeps_promise(problem, Method(fuse, UnitKind::sparse_tensor, Layout::separable, 0x1p-25));
  };
  EXPECT_TRUE(kept(halves, 4) && kept(tenths, 15) && kept(tenths, 40));
  EXPECT_FALSE(kept(halves, 15) || kept(halves, 31));
  EXPECT_EQ(make_plan(halves, nominal_gpu(), {}).chosen.unit, UnitKind::scalar);
  EXPECT_EQ(make_plan(tenths, nominal_gpu(), {}).chosen.layout, Layout::separable);
  PlanRequest request{UnitKind::sparse_tensor, Layout::separable, 31};
  EXPECT_THROW(make_plan(halves, nominal_gpu(), request), Error);
  request.accuracy = 1e-6;
  const Candidate accepted = make_plan(halves, nominal_gpu(), request).chosen;
  EXPECT_EQ(accepted.fuse, 31);
  request.accuracy.reset();  // as a continued run does
  request.unpromised = true;
  EXPECT_EQ(make_plan(halves, nominal_gpu(), request).chosen.fuse, 31);
}

/// Sums of first terms are exact for any number of taps, except in slowly decaying waves whose magnitude
/// varies from point to point. Sums of many instructions are rounded as often.
TEST(Plan, KeepsThePromiseOfFp32ByDirectLayouts) {
  const auto kept = [](const char* stencil, int fuse, Layout layout = Layout::morph) {
    Problem problem = problem_of(stencil, {1, 4096, 4096});
    problem.precision = Precision::fp32;
    return keeps_promise(problem, Method(fuse, UnitKind::sparse_tensor, layout));
  };
  EXPECT_TRUE(kept("box2d1r", 3) && kept("random2d7r", 1) && kept("star2d1r", 5));
  EXPECT_TRUE(kept("box2d1r", 4) && kept("box2d1r", 5) && kept("star2d1r", 7));
  EXPECT_FALSE(kept("gabor", 1) || kept("gabor", 2));
  EXPECT_TRUE(kept("jacobi2d", 5));
  EXPECT_FALSE(kept("jacobi2d", 15));
  // Pairs of fp16 leave out products of second terms, which are large if weights are few or similar.
  EXPECT_TRUE(kept("random2d7r", 1, Layout::strided_swap) && kept("random2d4r", 1, Layout::strided_swap));
  EXPECT_FALSE(kept("box2d3r", 1, Layout::strided_swap) || kept("gabor", 1, Layout::strided_swap));
}

/// Paper 003 says in section 4.2: box-2D1R fused 3 times has 49 taps instead of 27; fused 7 times it has 225
/// instead of 63.
TEST(Model, RedundancyAndSweetSpotAreThoseOfThePaper) {
  Problem problem = problem_of("box2d1r", {1, 10240, 10240});
  problem.precision = Precision::fp16;
  const auto direct = [&](int fuse) {
    return evaluate(problem, nominal_gpu(), Method(fuse, UnitKind::sparse_tensor, Layout::strided_swap));
  };
  EXPECT_DOUBLE_EQ(direct(3).redundancy, 49.0 / 27.0);
  EXPECT_DOUBLE_EQ(direct(7).redundancy, 225.0 / 63.0);
  for (const int fuse : {1, 3, 7}) {
    const Candidate c = direct(fuse);
    EXPECT_GT(c.spot.scenario, 0);
    EXPECT_LE(c.sparsity, 1.0);
    // Executed operations are alpha / S of what the scalar unit needs (equation 3).
    EXPECT_NEAR(c.fma, 9 * c.redundancy / c.sparsity, 1e-9 * c.fma);
  }
}

/// Returns the candidate of a method on tensor cores of an H200, on 10240^2 or 1024^3 points.
Candidate on_tensor_cores(const char* preset, Precision precision, const Method& method) {
  const bool flat = *preset_dimensions(preset) == 2;
  Problem problem = problem_of(preset, flat ? Index3{1, 10240, 10240} : Index3{1024, 1024, 1024});
  problem.precision = precision;
  return evaluate(problem, nominal_gpu(), method);
}

/// The scenario is that of the operations and bytes under the ceilings of an H200 in flop/s and B/s
/// (bench/results/ceilings-h200.json). In fp64 boxes in 2D execute 10 flop per byte, below the ridge of
/// 66.6e12 / 4.07e12 = 16.4: memory binds both units.
TEST(SweetSpot, ComparesIntensitiesWithRidges) {
  const auto scenario = [](const char* preset, Precision precision, const Method& method) {
    return on_tensor_cores(preset, precision, method).spot.scenario;
  };
  const Layout dense = Layout::natural_order;
  EXPECT_EQ(scenario("box2d1r", Precision::fp64, {3, UnitKind::tensor, dense}), 1);
  EXPECT_EQ(scenario("box2d3r", Precision::fp64, {1, UnitKind::tensor, dense}), 1);
  EXPECT_EQ(scenario("box3d1r", Precision::fp64, {3, UnitKind::tensor, dense}), 2);
  EXPECT_EQ(scenario("box3d1r", Precision::fp32, {7, UnitKind::sparse_tensor, Layout::morph}), 4);
  EXPECT_EQ(scenario("box2d1r", Precision::fp16, {1, UnitKind::tensor, Layout::morph}), 1);
  EXPECT_EQ(scenario("box2d1r", Precision::fp16, {7, UnitKind::sparse_tensor, Layout::separable, 0.5}), 3);
  EXPECT_EQ(scenario("box2d1r", Precision::fp16, {7, UnitKind::sparse_tensor, Layout::morph}), 4);
}

/// Strided swap in 2D in 16 bits runs on wgmma.sp, whose ridge is 1,439 / 4.07 = 353 flop/B, and morph on
/// mma.sp with 935 / 4.07 = 230.
TEST(SweetSpot, TakesTheCeilingOfTheInstructionsThatRun) {
  const auto ridge = [](Layout layout) {
    return on_tensor_cores("box2d7r", Precision::fp16, {1, UnitKind::sparse_tensor, layout}).ridge;
  };
  EXPECT_NEAR(ridge(Layout::strided_swap), 1439e12 / 4071e9, 1);
  EXPECT_NEAR(ridge(Layout::morph), 935e12 / 4071e9, 1);
  DeviceModel half = nominal_gpu();
  half.bandwidth /= 2;
  Problem problem = problem_of("box2d7r", {1, 10240, 10240});
  EXPECT_NEAR(evaluate(problem, half, Method(1)).ridge, 2 * evaluate(problem, nominal_gpu(), Method(1)).ridge,
              1e-9);
}

/// In scenario 4 the gain is P_TC / P_CU over the ratio of operations, which is equation 19.
TEST(SweetSpot, GainsWhatTheRooflinesAllow) {
  const Candidate tensor =
      on_tensor_cores("box2d7r", Precision::fp16, {1, UnitKind::sparse_tensor, Layout::morph});
  const Candidate scalar = on_tensor_cores("box2d7r", Precision::fp16, Method(1));
  ASSERT_EQ(tensor.spot.scenario, 4);
  EXPECT_NEAR(tensor.spot.speedup, tensor.peak / tensor.fma / (scalar.peak / scalar.fma), 1e-12);
  EXPECT_NEAR(tensor.spot.modelled_speedup, scalar.seconds / tensor.seconds, 1e-12);
  EXPECT_EQ(tensor.spot.verdict(), Verdict::inside);
  EXPECT_EQ(scalar.spot.verdict(), Verdict::none);
  const Candidate both_wait =
      on_tensor_cores("box2d1r", Precision::fp16, {1, UnitKind::sparse_tensor, Layout::morph});
  EXPECT_EQ(both_wait.spot.verdict(), Verdict::equal);
}

TEST(SweetSpot, AgreesWithThePlanOrSaysThatItDoesNot) {
  const SweetSpot faster{4, 20, 14, 1.5, 1.2}, slower{4, 20, 14, 0.5, 0.4}, torn{3, 20, 14, 1.4, 0.9},
      equal{1, 10, 14, 1.0, 1.2}, more_than_memory{1, 10, 14, 1.0, 1.3};
  EXPECT_EQ(faster.verdict(), Verdict::inside);
  EXPECT_EQ(slower.verdict(), Verdict::outside);
  EXPECT_EQ(torn.verdict(), Verdict::contradicted);
  EXPECT_EQ(equal.verdict(), Verdict::equal);
  EXPECT_EQ(more_than_memory.verdict(), Verdict::contradicted);
}

TEST(Model, LaunchesAndWallsAreNamedWhereTheyTakeMostOfTheTime) {
  EXPECT_EQ(evaluate(problem_of("star2d1r", {1, 64, 64}), nominal_gpu(), Method(1)).bound, "launch");
  EXPECT_EQ(evaluate(problem_of("star2d1r", {1, 10240, 10240}), nominal_gpu(), Method(1)).bound, "memory");
  Problem walled = problem_of("box2d1r", {1, 800, 800});
  walled.precision = Precision::fp16;
  const Method deep(15, UnitKind::sparse_tensor, Layout::separable);
  EXPECT_EQ(evaluate(with_walls(walled, false), nominal_gpu(), deep).bound, "walls");
  EXPECT_NE(evaluate(with_walls(walled, true), nominal_gpu(), deep).bound, "walls");
}

TEST(Plan, NamesTheRunnerUpOfAnotherUnitOrLayout) {
  Problem problem = problem_of("box2d1r", {1, 4096, 4096});
  problem.precision = Precision::fp16;
  const Plan plan = make_plan(problem, nominal_gpu(), {});
  const Candidate* runner_up = nullptr;
  for (const Candidate& c : plan.candidates)
    if ((c.unit != plan.chosen.unit || c.layout != plan.chosen.layout) &&
        (!runner_up || c.seconds < runner_up->seconds))
      runner_up = &c;
  ASSERT_TRUE(runner_up && runner_up->fused_weights());
  EXPECT_THAT(plan.reasons, ::testing::Contains(::testing::HasSubstr("instead of: " + describe(*runner_up))));
  EXPECT_THAT(plan.reasons, ::testing::Contains(::testing::HasSubstr("instead of: scalar")));
}

/// Holds a sustained rate in GStencil/s on an H200 (docs/log/scalar.md).
struct MeasuredRate {
  const char* preset;
  Index3 shape;
  Precision precision;
  BoundaryKind walls;
  int fuse;
  double rate;
  std::optional<Layout> layout = {};
};
class ModelOfH200 : public ::testing::TestWithParam<MeasuredRate> {};

TEST_P(ModelOfH200, IsWithinAQuarterOfWhatWasMeasured) {
  const MeasuredRate& m = GetParam();
  Problem problem = problem_of(m.preset, m.shape);
  problem.precision = m.precision;
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis)
    for (Face& face : problem.domain.faces[axis]) face.kind = m.walls;
  const Candidate candidate =
      evaluate(problem, nominal_gpu(),
               !m.layout                        ? Method(m.fuse)
               : m.layout == Layout::separable  ? Method(m.fuse, UnitKind::sparse_tensor, m.layout, 0.5)
               : m.precision == Precision::fp64 ? Method(m.fuse, UnitKind::tensor, m.layout)
                                                : Method(m.fuse, UnitKind::sparse_tensor, m.layout));
  EXPECT_LT(1e-9 / candidate.seconds, 1.25 * m.rate);
  EXPECT_GT(1e-9 / candidate.seconds, 0.75 * m.rate);
}

/// These two stay below their ridge, and counters saw DRAM busy (bench/results/sweet-spot-h200.json).
TEST(Model, MemoryBindsDenseSweepsInFp64BelowTheirRidge) {
  for (const auto& [stencil, fuse, rate] : {std::tuple{"box2d1r", 3, 694.0}, {"box2d3r", 1, 232.0}}) {
    const Candidate candidate = evaluate(problem_of(stencil, {1, 10240, 10240}), nominal_gpu(),
                                         Method(fuse, UnitKind::tensor, Layout::natural_order));
    EXPECT_EQ(candidate.bound, "memory") << stencil;
    EXPECT_NEAR(1e-9 / candidate.seconds, rate, 0.15 * rate) << stencil;
  }
}

constexpr Index3 plane{1, 10240, 10240}, cube{1024, 1024, 1024}, line{1, 1, 100'000'000};
constexpr auto periodic = BoundaryKind::periodic, dirichlet = BoundaryKind::dirichlet,
               neumann = BoundaryKind::neumann;
INSTANTIATE_TEST_SUITE_P(
    Table, ModelOfH200,
    ::testing::Values(MeasuredRate{"star2d1r", plane, Precision::fp32, dirichlet, 8, 3414},
                      MeasuredRate{"star2d1r", plane, Precision::fp32, periodic, 8, 3404},
                      MeasuredRate{"star2d1r", plane, Precision::fp32, neumann, 8, 3400},
                      MeasuredRate{"star2d1r", plane, Precision::fp64, dirichlet, 8, 1534},
                      MeasuredRate{"star2d1r", plane, Precision::fp64, periodic, 8, 1580},
                      MeasuredRate{"box2d1r", plane, Precision::fp32, periodic, 8, 2334},
                      MeasuredRate{"box2d1r", plane, Precision::fp64, periodic, 8, 1314},
                      MeasuredRate{"star2d2r", plane, Precision::fp32, periodic, 4, 1604},
                      MeasuredRate{"star2d2r", plane, Precision::fp64, dirichlet, 4, 807},
                      MeasuredRate{"box2d2r", plane, Precision::fp32, periodic, 3, 1082},
                      MeasuredRate{"box2d3r", plane, Precision::fp32, periodic, 2, 663},
                      MeasuredRate{"box2d3r", plane, Precision::fp64, periodic, 2, 397},
                      MeasuredRate{"star3d1r", cube, Precision::fp32, dirichlet, 4, 1406},
                      MeasuredRate{"star3d1r", cube, Precision::fp32, periodic, 4, 1583},
                      MeasuredRate{"star3d1r", cube, Precision::fp32, neumann, 4, 1448},
                      MeasuredRate{"star3d1r", cube, Precision::fp64, dirichlet, 3, 567},
                      MeasuredRate{"star3d1r", cube, Precision::fp64, periodic, 4, 682},
                      MeasuredRate{"box3d1r", cube, Precision::fp32, periodic, 3, 990},
                      MeasuredRate{"box3d1r", cube, Precision::fp64, periodic, 3, 482},
                      MeasuredRate{"1d1r", line, Precision::fp64, dirichlet, 8, 1900},
                      MeasuredRate{"1d1r", line, Precision::fp64, dirichlet, 16, 3050},
                      MeasuredRate{"1d1r", line, Precision::fp32, dirichlet, 8, 3460},
                      MeasuredRate{"1d1r", line, Precision::fp32, dirichlet, 16, 5777},
                      MeasuredRate{"star3d1r", cube, Precision::fp16, periodic, 4, 1620},
                      MeasuredRate{"star2d1r", plane, Precision::bf16, periodic, 8, 3080}));

// Rates are those of docs/log/separable.md. All separable cases have rank one, so dropped terms do not matter
// here.
constexpr auto swap = Layout::morph, dense = Layout::natural_order, separable = Layout::separable;
INSTANTIATE_TEST_SUITE_P(
    TensorCores, ModelOfH200,
    ::testing::Values(
        MeasuredRate{"box2d7r", plane, Precision::fp16, periodic, 1, 706, swap},
        MeasuredRate{"box2d1r", plane, Precision::fp16, periodic, 1, 857, swap},
        MeasuredRate{"box2d3r", plane, Precision::fp16, periodic, 1, 778, swap},
        MeasuredRate{"box3d1r", cube, Precision::fp16, periodic, 1, 811, swap},
        MeasuredRate{"box3d1r", cube, Precision::fp16, periodic, 2, 1325, swap},
        MeasuredRate{"star3d1r", cube, Precision::fp16, periodic, 2, 1470, swap},
        MeasuredRate{"star3d1r", cube, Precision::fp16, periodic, 3, 2023, swap},
        MeasuredRate{"star3d1r", cube, Precision::fp16, periodic, 4, 1120, swap},
        MeasuredRate{"1d1r", line, Precision::fp16, periodic, 7, 6331, swap},
        MeasuredRate{"1d1r", {1, 1, 32'000'000}, Precision::fp32, periodic, 16, 2283, Layout::strided_swap},
        MeasuredRate{"box2d7r", plane, Precision::fp32, periodic, 1, 106, swap},
        MeasuredRate{"box2d3r", plane, Precision::fp64, periodic, 1, 225, dense},
        MeasuredRate{"box2d7r", plane, Precision::fp64, periodic, 1, 83.7, dense},
        MeasuredRate{"box3d1r", cube, Precision::fp64, periodic, 1, 191, dense},
        MeasuredRate{"star3d1r", cube, Precision::fp64, periodic, 2, 309, dense},
        MeasuredRate{"box2d7r", plane, Precision::tf32, periodic, 1, 153, swap},
        MeasuredRate{"box2d7r", plane, Precision::bf16, periodic, 1, 707, swap},
        MeasuredRate{"1d1r", {1, 1, 32'000'000}, Precision::fp64, periodic, 16, 3547, dense},
        MeasuredRate{"box2d1r", plane, Precision::fp16, periodic, 7, 6450, separable},
        MeasuredRate{"box2d1r", plane, Precision::fp16, periodic, 15, 12969, separable},
        MeasuredRate{"box2d1r", plane, Precision::tf32, periodic, 7, 3219, separable},
        MeasuredRate{"box2d1r", plane, Precision::fp32, periodic, 7, 3110, separable},
        MeasuredRate{"box2d1r", plane, Precision::fp32, periodic, 15, 4216, separable},
        MeasuredRate{"1d1r", line, Precision::fp16, periodic, 7, 5931, separable},
        MeasuredRate{"1d1r", line, Precision::fp16, periodic, 15, 12623, separable},
        MeasuredRate{"1d1r", line, Precision::fp16, periodic, 31, 25045, separable},
        MeasuredRate{"1d1r", line, Precision::fp32, periodic, 7, 2929, separable},
        MeasuredRate{"1d1r", line, Precision::fp32, periodic, 31, 6808, separable}));

TEST(Scaling, RanksHideTheirExchangeUntilBlocksAreSmall) {
  const Problem problem = problem_of("star3d1r", {1024, 1024, 1024});
  const DeviceModel device = nominal_gpu();
  const Candidate candidate = evaluate(problem, device, Method(3));
  const double one = scale(problem, device, candidate, 1).rate;
  EXPECT_NEAR(one, 1 / candidate.seconds, 1e-6 * one);
  double last = one;
  for (const int ranks : {8, 64, 512}) {
    const Scaling scaling = scale(problem, device, candidate, ranks);
    EXPECT_EQ(scaling.hidden, ranks == 8) << "blocks of 256^3 and 128^3 cannot hide a network";
    EXPECT_GT(scaling.rate, last);
    EXPECT_LE(scaling.rate, static_cast<double>(ranks) * one);
    last = scaling.rate;
  }
  EXPECT_LT(last, 0.5 * 512 * one);
}

TEST(Scaling, SmallBlocksTakeLongerThanTheirShare) {
  const Problem problem = problem_of("star2d1r", {1, 4096, 4096});
  const DeviceModel device = nominal_gpu();
  const Scaling scaling = scale(problem, device, evaluate(problem, device, Method(8)), 64);
  EXPECT_EQ(volume(scaling.rank_grid), 64);
  EXPECT_EQ(volume(scaling.block), 512 * 512);
  Problem block = problem;
  block.domain.shape = scaling.block;
  EXPECT_GT(scaling.launch_seconds, evaluate(block, device, Method(8)).seconds * 8 * 512 * 512);
}

/// Rates are those of bench/results/scaling.json: launches per exchange, GStencil/s of all GPUs
/// together; fp32, periodic.
TEST(Scaling, IsThatOfSeveralH200) {
  struct Row {
    const char* preset;
    Index3 shape;
    int fuse, ranks, exchange_every;
    double rate;
  };
  for (const Row& row : {Row{"star2d1r", {1, 16384, 16384}, 8, 2, 8, 6348},
                         {"star2d1r", {1, 16384, 16384}, 8, 4, 8, 12137},
                         {"star3d1r", {1024, 1024, 1024}, 4, 2, 1, 3047},
                         {"star3d1r", {1024, 1024, 1024}, 4, 4, 2, 5903},
                         {"star2d1r", {1, 4096, 16384}, 8, 2, 8, 5577},
                         {"star2d1r", {1, 8192, 16384}, 8, 4, 8, 11230},
                         {"star3d1r", {256, 1024, 1024}, 4, 2, 2, 2773},
                         {"star3d1r", {512, 1024, 1024}, 4, 4, 2, 5221},
                         {"star2d1r", {1, 65536, 16384}, 8, 4, 7, 12911},
                         {"star3d1r", {2048, 1024, 1024}, 4, 4, 1, 6063}}) {
    Problem problem = problem_of(row.preset, row.shape);
    problem.precision = Precision::fp32;
    const Scaling scaling =
        scale(problem, nominal_gpu(), evaluate(problem, nominal_gpu(), Method(row.fuse)), row.ranks);
    EXPECT_EQ(scaling.exchange_every, row.exchange_every) << row.preset << " on " << row.ranks;
    EXPECT_NEAR(1e-9 * scaling.rate, row.rate, 0.15 * row.rate) << row.preset << " on " << row.ranks;
  }
}

}  // namespace
}  // namespace spsolve
