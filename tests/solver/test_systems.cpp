// SPDX-License-Identifier: Apache-2.0
// These tests compare systems of equations on any number of ranks with their canonical form, bit by bit,
// evaluated by plain loops on the whole grid, on CPUs and on GPUs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#ifdef SPSOLVE_CUDA
#include "kernels/cuda/system/fused_tile.hpp"
#endif
#include "kernels/cpu/system_unit.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/interpret_coefficient.hpp"
#include "solver/block.hpp"
#include "solver/plan/plan.hpp"
#include "tests/kernels/operator/given_rows.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/evaluate_canonical.hpp"
#include "tests/support/recorded_values.hpp"

namespace spsolve {
namespace {

/// Rounds every value to a storage format.
std::vector<double> stored(std::vector<double> values, Precision precision) {
  with_storage(precision, [&]<class Storage>() {
    for (double& value : values) value = stored_value(to_storage<Storage>(value));
  });
  return values;
}

/// Is called after every step with the fields of the step that is reached, and may change them.
using AfterStep = std::function<void(std::int64_t step, std::vector<std::vector<double>>& fields)>;

/// Returns the state after `steps` steps, by canonical_step() in the precision that units compute in; fields
/// are rounded to storage after every step.
template <class T>
SystemState<double> expected_state(const Canonical& canonical, const StepContext& context,
                                   const SystemState<double>& initial, Precision precision, int steps,
                                   const AfterStep& after_step = {}) {
  StepContext rounded = context;  // walls have values that a field can store
  for (Domain& domain : rounded.fields)
    for (auto& faces : domain.faces)
      for (Face& face : faces) face.value = stored({face.value}, precision).front();
  const auto to = [&](const auto& fields, auto&& convert) {
    for (auto& field : fields) convert(field);
  };
  SystemState<T> state{{}, {}, initial.step};
  to(initial.now, [&](const auto& field) {
    const auto values = stored(field, precision);
    state.now.emplace_back(values.begin(), values.end());
  });
  to(initial.previous, [&](const auto& field) {
    const auto values = stored(field, precision);
    state.previous.emplace_back(values.begin(), values.end());
  });
  // `.next` is read with the rounding of storage. With 16 bits, units do the same only if no statement reads
  // it.
  for (int step = 0; step < steps; ++step) {
    state = canonical_step(canonical, rounded, state);
    std::vector<std::vector<double>> fields;
    for (const auto& field : state.now) fields.push_back(stored({field.begin(), field.end()}, precision));
    if (after_step) after_step(state.step, fields);
    for (std::size_t field = 0; field < fields.size(); ++field)
      state.now[field].assign(fields[field].begin(), fields[field].end());
  }
  SystemState<double> result;
  to(state.now, [&](const auto& field) { result.now.emplace_back(field.begin(), field.end()); });
  return result;
}

/// Returns the `choice`-th of the rank grids that fit the grid of points.
std::optional<Index3> rank_grid(const Index3& shape, int ranks, int choice) {
  const std::vector<Index3> fitting = testing::rank_grids(shape, ranks);
  if (fitting.empty()) return {};
  return fitting[static_cast<std::size_t>(choice) % fitting.size()];
}

/// Holds points of fields to which amounts are added in every step, each named once, and points that are
/// recorded.
struct CasePoints {
  std::vector<FieldPoint> added, recorded;

  static double amount(std::int64_t step, std::size_t number) {
    return std::sin(static_cast<double>(step) + 7.0 * static_cast<double>(number));
  }
  /// Adds the amounts of a step to the computed fields.
  void add(std::int64_t step, std::vector<std::vector<double>>& fields, const Index3& shape,
           Precision precision) const {
    for (std::size_t i = 0; i < added.size(); ++i) {
      double& value = fields[added[i].field][static_cast<std::size_t>(index_of(added[i].p, shape))];
      value = with_storage(precision, [&]<class Storage>() {
        using T = Compute<Storage>;
        return stored_value(to_storage<Storage>(static_cast<T>(value) + static_cast<T>(amount(step, i))));
      });
    }
  }
  /// Returns the points that a block adds to and records: rows of all steps, and of every third one.
  PointTable table(const Block& block, const Domain& domain, std::int64_t steps) const {
    PointTable all{{}, added.size(), {{1, steps + 1, {}}, {3, steps + 1, {}}}};
    for (std::size_t i = 0; i < added.size(); ++i)
      for (const Index3& image : periodic_copies_of(added[i].p, domain, block.advanced()))
        all.added.push_back({{added[i].field, image}, i});
    for (RecordedPoints& group : all.recorded) group.points = owned(block.owned());
    // Values of the second group are those of single points and sums of two.
    RecordedPoints& sums = all.recorded.back();
    sums.starts.push_back(0);
    for (std::size_t point = 0; point < sums.points.size(); ++point) {
      for (const PointShare& share : shares(point)) sums.shares.push_back(share);
      sums.starts.push_back(sums.shares.size());
    }
    return all;
  }
  /// Returns what a value of the second group is made of: its point, or a mean with the point before it.
  static std::vector<PointShare> shares(std::size_t point) {
    if (point % 2 == 0) return {{point, 1.0}};
    return {{point - 1, 0.3}, {point, 0.7}};
  }
  std::vector<FieldPoint> owned(const Box& box) const {
    std::vector<FieldPoint> points;
    for (const FieldPoint& point : recorded)
      if (contains(box, point.p)) points.push_back(point);
    return points;
  }
};

CasePoints random_points(std::size_t fields, const Index3& shape, std::mt19937& random) {
  CasePoints points;
  const Index3 last = shape - Index3{1, 1, 1};
  for (std::size_t field = 0; field < fields; ++field) {
    std::set<Index3> places{{0, 0, 0}, last, {0, last[1] / 2, last[2]}};
    while (places.size() < std::min<std::size_t>(8, static_cast<std::size_t>(volume(shape))))
      places.insert(point_of(static_cast<std::int64_t>(random()) % volume(shape), shape));
    for (const Index3& p : places) {
      points.added.push_back({field, p});
      points.recorded.push_back({field, p});
      points.recorded.push_back({field, {p[0], p[1], wrap(p[2] + 1, shape[2])}});
    }
  }
  return points;
}

bool reads_next(const SystemFacts& facts) {
  for (const EquationFacts& equation : facts.equations)
    for (const auto& [read, offsets] : equation.reach)
      if (read.level == Level::next) return true;
  return false;
}

/// Returns a grid on which the blocks of every kernel of a backend march, with walls of all kinds.
testing::RandomProblem large_problem(const testing::ExampleStep& example, std::mt19937& random) {
  testing::RandomProblem problem(example, random, 1);
  const int dimensions = example.names.dimensions;
  problem.resize(dimensions == 3   ? Index3{41, 45, 150}
                 : dimensions == 2 ? Index3{1, 75, 530}
                                   : Index3{1, 1, 3000},
                 random);
  return problem;
}

constexpr int parts_of_problems = 4;

/// Tests systems on a device. Every part of the problems is a test of its own, because GPUs compile kernels
/// for each problem, and parts can run at the same time.
class Systems : public testing::DeviceTest,
                public ::testing::WithParamInterface<std::tuple<const char*, int>> {
 protected:
  using Fields = std::vector<std::vector<double>>;

  void SetUp() override { find_backends(std::get<0>(GetParam())); }
  /// Returns true if the part has the problem of a number.
  bool has(int number) const { return number % parts_of_problems == std::get<1>(GetParam()); }

  /// Returns the equations of a problem, or null if GPUs have other last bits.
  std::shared_ptr<const Equations> equations_of(const testing::ExampleStep& example,
                                                const testing::RandomProblem& problem) const {
    const Canonical canonical = canonical_form(testing::system_of(example));
    if (on_gpus)
      for (const EquationFacts& equation : facts_of(canonical).equations)
        if (equation.inexact_functions) return {};
    return std::make_shared<const Equations>(canonical, problem.context.fields, problem.context.dt);
  }

  /// Lists launches one after the other, with the number of steps of each.
  struct Launches {
    std::vector<int> steps;
    int fuse = 1, exchange_every = 1;
    std::size_t restart = 0;  // before this launch the state moves to a new block
    const CasePoints* points = nullptr;
  };

  /// Returns the fields after `steps` steps, on every rank.
  Fields advanced(Backend& by, const std::shared_ptr<const Equations>& equations, Precision precision,
                  const testing::RandomProblem& problem, const Index3& ranks, int steps) const {
    return advanced(by, equations, precision, problem, ranks,
                    Launches{std::vector<int>(static_cast<std::size_t>(steps), 1)});
  }
  Fields advanced(Backend& by, const std::shared_ptr<const Equations>& equations, Precision precision,
                  const testing::RandomProblem& problem, const Index3& ranks,
                  const Launches& launches) const {
    return advanced_on(world, by, equations, precision, problem, ranks, launches);
  }
  Fields advanced_on(const Communicator& communicator, Backend& by,
                     const std::shared_ptr<const Equations>& equations, Precision precision,
                     const testing::RandomProblem& problem, const Index3& ranks,
                     const Launches& launches) const {
    Problem what = system_problem(equations, precision);
    what.has_points = launches.points != nullptr;
    auto block = make_block(communicator, by, what, problem, ranks, launches);
    SystemState<double> state = problem.state;
    set_state(*block, what, state);
    if (launches.points) block->record();
    for (std::size_t i = 0; i < launches.steps.size(); ++i) {
      if (i > 0 && i == launches.restart) {
        for (std::size_t field = 0; field < what.field_count(); ++field) {
          state.now[field] = testing::gathered(communicator, what.domain, block->state(field));
          if (what.has_previous(field))
            state.previous[field] =
                testing::gathered(communicator, what.domain,
                                  block->view_previous(field).scan({1, precision}).copy->host_field());
        }
        block = nullptr;
        block = make_block(communicator, by, what, problem, ranks, launches);
        set_state(*block, what, state);
      }
      block->launch(launches.steps[i]);
      state.step += launches.steps[i];
    }
    Fields fields;
    for (std::size_t field = 0; field < what.field_count(); ++field)
      fields.push_back(testing::gathered(communicator, what.domain, block->state(field)));
    if (launches.points)
      for (const std::int64_t every : {1, 3}) {
        const std::int64_t rows = state.step / every - (problem.state.step + every - 1) / every + 1;
        const auto recorded = block->recorded(every == 1 ? 0 : 1, state.step / every - rows + 1, rows);
        fields.push_back(testing::recorded_values(*recorded, precision));
      }
    return fields;
  }
  /// Returns the expected result of advanced() on this rank, after a number of single steps by plain loops.
  Fields expected(const std::shared_ptr<const Equations>& equations, Precision precision,
                  const testing::RandomProblem& problem, const Index3& ranks, int steps,
                  const CasePoints& points) const {
    const Index3& shape = problem.context.shape();
    const auto own = points.owned(Decomposition(shape, ranks).block(world.rank()));
    Fields rows(2);
    const auto record = [&](std::int64_t step, const Fields& fields) {
      const auto value = [&](std::size_t point) {
        return fields[own[point].field][static_cast<std::size_t>(index_of(own[point].p, shape))];
      };
      for (std::size_t point = 0; point < own.size(); ++point) {
        rows[0].push_back(value(point));
        if (step % 3 != 0) continue;
        double sum = 0;
        for (const PointShare& share : CasePoints::shares(point)) sum += share.weight * value(share.point);
        rows[1].push_back(precision == Precision::fp64 ? sum : static_cast<float>(sum));
      }
    };
    Fields initial;
    for (const auto& field : problem.state.now) initial.push_back(stored(field, precision));
    record(problem.state.step, initial);
    const auto after_step = [&](std::int64_t step, Fields& fields) {
      points.add(step - 1, fields, shape, precision);
      record(step, fields);
    };
    Fields fields = precision == Precision::fp64
                        ? expected_state<double>(equations->canonical, problem.context, problem.state,
                                                 precision, steps, after_step)
                              .now
                        : expected_state<float>(equations->canonical, problem.context, problem.state,
                                                precision, steps, after_step)
                              .now;
    fields.insert(fields.end(), rows.begin(), rows.end());
    return fields;
  }
  void set_state(Block& block, const Problem& what, const SystemState<double>& state) const {
    for (std::size_t field = 0; field < what.field_count(); ++field) {
      block.set_state(testing::values_of(what.domain, state.now[field]), field, state.step);
      if (what.has_previous(field))
        block.set_previous(testing::values_of(what.domain, state.previous[field]), field);
    }
  }
  /// Returns a block with the coefficients of a problem.
  std::unique_ptr<Block> make_block(const Communicator& communicator, Backend& by, const Problem& what,
                                    const testing::RandomProblem& problem, const Index3& ranks,
                                    const Launches& launches) const {
    auto made = std::make_unique<Block>(communicator, what, Decomposition(what.domain.shape, ranks),
                                        Method(launches.fuse), by, launches.exchange_every);
    Block& block = *made;
    const std::shared_ptr<const Equations>& equations = what.equations;
    const Canonical& canonical = equations->canonical;
    for (std::size_t i = 0; i < canonical.coefficients.size(); ++i)
      block.set_coefficient(i, [&](Field& field) {
        with_storage(field.precision(), [&]<class Storage>() {
          interpret_coefficient(canonical, i, what.domain, field.owned(),
                                testing::given_rows(problem.context, 0),
                                [&](const Index3& first, std::span<const double> row) {
                                  std::ranges::transform(row, field.at<Storage>(first), to_storage<Storage>);
                                });
        });
      });
    if (launches.points) {
      int steps = 0;
      for (const int taken : launches.steps) steps += taken;
      block.set_points(launches.points->table(block, what.domain, steps),
                       [](std::int64_t step, std::span<double> amounts) {
                         for (std::size_t i = 0; i < amounts.size(); ++i)
                           amounts[i] = CasePoints::amount(step, i);
                       });
    }
    return made;
  }

  /// Compares the fields of all backends of the device with the expected ones.
  void expect_fields(const Fields& expected, const testing::ExampleStep& example, Precision precision,
                     const std::shared_ptr<const Equations>& equations, const testing::RandomProblem& problem,
                     const Index3& ranks, int steps) {
    expect_fields(expected, example, precision, equations, problem, ranks,
                  Launches{std::vector<int>(static_cast<std::size_t>(steps), 1)});
  }
  void expect_fields(const Fields& expected, const testing::ExampleStep& example, Precision precision,
                     const std::shared_ptr<const Equations>& equations, const testing::RandomProblem& problem,
                     const Index3& ranks, const Launches& launches) {
    for (const testing::TestBackend& by : backends) {
      const Fields found = advanced(*by.backend, equations, precision, problem, ranks, launches);
      for (std::size_t field = 0; field < found.size(); ++field)
        for (std::size_t i = 0; i < found[field].size(); ++i) {
          if (std::isnan(found[field][i]) && std::isnan(expected[field][i])) continue;
          ASSERT_EQ(found[field][i], expected[field][i])
              << example.name << " in " << to_string(precision) << " on " << by.name << ", field " << field
              << ", point " << i << ", up to " << launches.fuse << " steps per launch\n"
              << example.step;
        }
    }
    ++compared;
  }

  void expect_canonical(const testing::ExampleStep& example, const testing::RandomProblem& problem,
                        int choice, int steps) {
    const auto ranks = rank_grid(problem.context.shape(), world.size(), choice);
    if (!ranks) return;
    const auto equations = equations_of(example, problem);
    if (!equations) return;
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::bf16}) {
      if (storage_bytes(precision) == 2 && reads_next(equations->facts)) continue;
      const auto expected =
          precision == Precision::fp64
              ? expected_state<double>(equations->canonical, problem.context, problem.state, precision, steps)
              : expected_state<float>(equations->canonical, problem.context, problem.state, precision, steps);
      const Launches launches{std::vector<int>(static_cast<std::size_t>(steps), 1), 1, 1 + choice % 3};
      expect_fields(expected.now, example, precision, equations, problem, *ranks, launches);
    }
  }

  /// Returns whether launches of a device take several steps of a system.
  bool takes_several_steps(const Equations& equations, [[maybe_unused]] Precision precision,
                           int steps) const {
#ifdef SPSOLVE_CUDA
    if (on_gpus)
      return std::holds_alternative<cuda::FusedTile>(cuda::fused_tile(equations.canonical, equations.facts,
                                                                      equations.domains, precision, steps,
                                                                      cuda::current_device().block_limits()));
#endif
    return !CpuSystemUnit::why_single_steps(equations.facts, equations.domains);
  }

  /// Compares launches of two to nine steps with single steps on the CPU, on a part of `count` problems that
  /// `make(example, random)` makes of the examples in turn. If `with_points`, they also add to points and
  /// record them; otherwise there is a restart.
  template <class Make>
  void compare_several_steps(int count, bool with_points, const Make& make) {
    testing::TestBackend cpu = testing::cpu_backend(world);
    std::vector<testing::ExampleStep> examples = testing::example_steps();
    testing::ExampleStep viscous{"waves in a viscous medium", {}, R"(
      p.next = 2*p - p.previous + c*laplace(p) + 0.1*(laplace(p) - laplace(p.previous))
    )"};
    viscous.names.dimensions = 2;
    viscous.names.spacing = {1.25, 0.75, 1.0};
    viscous.names.dt = 0.125;
    viscous.names.fields = {"p"};
    viscous.names.coefficients = {"c"};
    examples.push_back(viscous);
    const std::array precisions{Precision::fp32, Precision::fp64, Precision::fp16};
    for (int number = 0; number < count; ++number) {
      if (!has(number)) continue;
      std::mt19937 random(static_cast<unsigned>(number));
      // Examples return with other numbers of steps and other precisions.
      const auto kinds = static_cast<int>(examples.size()), round = number / kinds;
      const testing::ExampleStep& example = examples[static_cast<std::size_t>(number % kinds)];
      const testing::RandomProblem problem = make(example, random);
      const auto ranks = rank_grid(problem.context.shape(), world.size(), number);
      const auto equations = equations_of(example, problem);
      if (!ranks || !equations) continue;
      const Precision precision =
          precisions[static_cast<std::size_t>(number / 3 + round) % precisions.size()];
      int fuse = 2 + (number + round) % 3;
      // Plans choose up to five steps in 3D and nine in 2D.
      const int deepest = example.names.dimensions == 3 ? 5 : 9;
      if (number % 3 == 0 && takes_several_steps(*equations, precision, deepest)) fuse = deepest;
      if (!takes_several_steps(*equations, precision, fuse)) continue;
      std::optional<CasePoints> points;
      if (with_points) points = random_points(problem.state.now.size(), problem.context.shape(), random);
      Launches launches{{fuse, 1, fuse, fuse, 1, 1, fuse}, fuse, 1 + number % 2, 3};
      if (points) launches.restart = 0, launches.points = &*points;
      const int steps = std::accumulate(launches.steps.begin(), launches.steps.end(), 0);
      const Launches single{std::vector<int>(static_cast<std::size_t>(steps), 1), 1, 1, 0, launches.points};
      const Fields expected = advanced(*cpu.backend, equations, precision, problem, *ranks, single);
      expect_fields(expected, example, precision, equations, problem, *ranks, launches);
    }
    EXPECT_GE(3 * parts_of_problems * compared, count);
  }

  int compared = 0;
};

TEST_P(Systems, OfAllExamplesHaveTheBitsOfTheirCanonicalForm) {
  int number = 0;
  for (const testing::ExampleStep& example : testing::example_steps())
    for (int repeat = 0; repeat < (on_gpus ? 2 : 6); ++repeat) {
      if (!has(number++)) continue;
      std::mt19937 random(static_cast<unsigned>(number));
      const testing::RandomProblem problem(example, random, example.names.dimensions == 3 ? 7 : 11);
      expect_canonical(example, problem, repeat, 4);
    }
  EXPECT_GT(parts_of_problems * compared, 20);
}

/// With 16 bits, units may read `.next` before it is rounded to storage, but on every rank alike.
TEST_P(Systems, ThatReadNextHaveTheBitsOfOneRankIn16Bits) {
  const Communicator self(MPI_COMM_SELF);
  const testing::TestBackend alone = testing::cpu_backend(self);
  int number = 0;
  for (const testing::ExampleStep& example : testing::example_steps()) {
    if (!reads_next(facts_of(canonical_form(testing::system_of(example))))) continue;
    for (int repeat = 0; repeat < (on_gpus ? 2 : 6); ++repeat) {
      if (!has(number++)) continue;
      std::mt19937 random(static_cast<unsigned>(number));
      const testing::RandomProblem problem(example, random, 11);
      const auto ranks = rank_grid(problem.context.shape(), world.size(), repeat);
      const auto equations = equations_of(example, problem);
      if (!ranks || !equations) continue;
      const std::vector<int> steps(4, 1);
      for (const Precision precision : {Precision::fp16, Precision::bf16}) {
        const Fields expected =
            advanced_on(self, *alone.backend, equations, precision, problem, {1, 1, 1}, Launches{steps});
        expect_fields(expected, example, precision, equations, problem, *ranks,
                      Launches{steps, 1, 1 + repeat % 3});
      }
    }
  }
  EXPECT_GT(compared, 0);
}

/// Blocks of every rank are large enough for the march kernels of GPUs.
TEST_P(Systems, OfLargeGridsHaveTheSameBitsOnAllDevices) {
  testing::TestBackend cpu = testing::cpu_backend(world);
  int number = 0;
  for (const testing::ExampleStep& example : testing::example_steps()) {
    if (!has(number++)) continue;
    std::mt19937 random(static_cast<unsigned>(number));
    const testing::RandomProblem problem = large_problem(example, random);
    const auto ranks = rank_grid(problem.context.shape(), world.size(), number);
    const auto equations = equations_of(example, problem);
    if (!equations) continue;
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
      if (!on_gpus && precision != Precision::fp64) continue;
      const Fields expected =
          on_gpus ? advanced(*cpu.backend, equations, precision, problem, *ranks, 3)
                  : expected_state<double>(equations->canonical, problem.context, problem.state, precision, 3)
                        .now;
      expect_fields(expected, example, precision, equations, problem, *ranks, 3);
    }
  }
  EXPECT_GT(parts_of_problems * compared, 10);
}

/// Amounts are added, and values recorded, after every single step.
TEST_P(Systems, WorkOnPoints) {
  int number = 0;
  for (const testing::ExampleStep& example : testing::example_steps())
    for (int repeat = 0; repeat < (on_gpus ? 1 : 3); ++repeat) {
      if (!has(number++)) continue;
      std::mt19937 random(static_cast<unsigned>(number));
      const testing::RandomProblem problem(example, random, example.names.dimensions == 3 ? 7 : 11);
      const Index3& shape = problem.context.shape();
      const auto ranks = rank_grid(shape, world.size(), repeat);
      const auto equations = equations_of(example, problem);
      if (!ranks || !equations) continue;
      const CasePoints points = random_points(problem.state.now.size(), shape, random);
      for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
        if (storage_bytes(precision) == 2 && reads_next(equations->facts)) continue;
        expect_fields(expected(equations, precision, problem, *ranks, 4, points), example, precision,
                      equations, problem, *ranks, Launches{{1, 1, 1, 1}, 1, 1 + repeat % 3, 0, &points});
      }
    }
  EXPECT_GT(parts_of_problems * compared, 20);
}

/// Launches of several steps have single ones between them and a restart among them.
TEST_P(Systems, InSeveralStepsPerLaunchHaveTheBitsOfSingleOnesOnLargeGrids) {
  compare_several_steps(16, false, [](const testing::ExampleStep& example, std::mt19937& random) {
    return large_problem(example, random);
  });
}
/// Small grids have walls of all kinds, and thin blocks on several ranks.
TEST_P(Systems, InSeveralStepsPerLaunchHaveTheBitsOfSingleOnesOnSmallGrids) {
  compare_several_steps(54, false, [](const testing::ExampleStep& example, std::mt19937& random) {
    return testing::RandomProblem(example, random, 24);
  });
}
/// Launches of several steps add to points and record them after every one of their steps.
TEST_P(Systems, WorkOnPointsInSeveralStepsPerLaunch) {
  if (!on_gpus) GTEST_SKIP() << "CPUs take single steps where points are worked on";
  compare_several_steps(30, true, [](const testing::ExampleStep& example, std::mt19937& random) {
    return random() % 3 == 0 ? large_problem(example, random) : testing::RandomProblem(example, random, 20);
  });
}

TEST_P(Systems, OfRandomStatementsHaveTheBitsOfTheirCanonicalForm) {
  for (unsigned seed = 0; seed < (on_gpus ? 40u : 200u); ++seed) {
    if (!has(static_cast<int>(seed))) continue;
    std::mt19937 random(seed);
    const testing::ExampleStep example = testing::RandomStep(seed, seed % 3 == 0).step();
    testing::RandomProblem problem(example, random, 6);
    testing::make_whole(problem, random);
    expect_canonical(example, problem, static_cast<int>(seed), 2);
  }
  EXPECT_GT(parts_of_problems * compared, on_gpus ? 20 : 100);
}

/// Returns a problem of equations on a large periodic grid, for plans.
Problem planned(const char* step, std::vector<std::string> fields, std::vector<std::string> coefficients) {
  StepNames names;
  names.fields = std::move(fields);
  names.coefficients = std::move(coefficients);
  names.dt = 0.1;
  const std::vector<Domain> domains(names.fields.size(), Domain{.dimensions = 3, .shape = {512, 512, 512}});
  return system_problem(std::make_shared<const Equations>(
                            canonical_form(resolve_step(parse_step(step), names)), domains, names.dt),
                        Precision::fp32);
}
const char* const waves = "p.next = 2*p - p.previous + (c*dt)^2*laplace(p)";

TEST(PlansOfSystems, TakeSeveralStepsPerLaunchOnGpusWhereThatIsFaster) {
  const Problem problem = planned(waves, {"p"}, {"c"});
  const Plan plan = make_plan(problem, nominal_gpu(), {});
  EXPECT_GT(plan.chosen.fuse, 1);
  EXPECT_EQ(plan.candidates.front().fuse, 1);
  for (const Candidate& candidate : plan.candidates) EXPECT_LE(plan.chosen.seconds, 1.01 * candidate.seconds);
  EXPECT_EQ(make_plan(problem, nominal_gpu(), {{}, {}, 2}).chosen.fuse, 2);
  // Launches that end at every second step have no room for more.
  EXPECT_LE(make_plan(problem, nominal_gpu(), {{}, {}, {}, {2}}).chosen.fuse, 2);
}

/// Several steps per launch move fewer bytes and compute more.
TEST(PlansOfSystems, TakeSeveralStepsPerLaunchOnCpusWhoseMemoryIsSlow) {
  const Problem problem = planned(waves, {"p"}, {"c"});
  DeviceModel fast = nominal_cpu(), slow = nominal_cpu();
  fast.bandwidth *= 10;
  slow.bandwidth /= 10;
  EXPECT_EQ(make_plan(problem, fast, {}).chosen.fuse, 1);
  EXPECT_GT(make_plan(problem, slow, {}).chosen.fuse, 1);
  EXPECT_EQ(make_plan(problem, nominal_cpu(), {{}, {}, 2}).chosen.fuse, 2);
  Problem with_points = problem;
  with_points.has_points = true;
  EXPECT_EQ(make_plan(with_points, slow, {}).chosen.fuse, 1);
  EXPECT_THROW(make_plan(with_points, slow, {{}, {}, 2}), Error);
}

TEST(PlansOfSystems, TakeSingleStepsWhereNoKernelTakesSeveral) {
  const Problem displaced = planned("u.next = u + v; v.next = v + u.next[0, 0, 1]", {"u", "v"}, {}),
                before = planned("u.next = u + 0.1*u.previous[0, 0, 1]", {"u"}, {});
  const Plan plan = make_plan(before, nominal_gpu(), {});
  EXPECT_EQ(plan.chosen.fuse, 1);
  EXPECT_EQ(plan.candidates.size(), 1u);
  EXPECT_FALSE(plan.rejected.empty());
  EXPECT_THROW(make_plan(before, nominal_gpu(), {{}, {}, 2}), Error);
  EXPECT_EQ(make_plan(displaced, nominal_gpu(), {{}, {}, 2}).chosen.fuse, 2);
  EXPECT_THROW(make_plan(displaced, nominal_cpu(), {{}, {}, 2}), Error);
  PlanRequest continued{{}, {}, 2};  // plan of a run that began on another device
  continued.unpromised = true;
  EXPECT_EQ(make_plan(displaced, nominal_cpu(), continued).chosen.fuse, 1);
}

/// Coordinates that are read displaced do not keep launches from several steps along periodic axes.
TEST(PlansOfSystems, TakeSeveralStepsWhereCoordinatesAreReadDisplaced) {
  for (const char* step : {"u.next = u + dt*d(x*u, x)", "u.next = u + dt*sin(x)*laplace(u)"})
    EXPECT_GT(make_plan(planned(step, {"u"}, {}), nominal_gpu(), {}).chosen.fuse, 1) << step;
}

/// What a tile would need tells which demand is too large.
TEST(PlansOfSystems, NameTheMemoryThatTilesWouldNeed) {
  const Problem wide =
      planned("u.next = u + v*laplace(u, order=16)\nv.next = v + u*laplace(v, order=16)", {"u", "v"}, {});
  try {
    make_plan(wide, nominal_gpu(), {{}, {}, 6});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bytes of shared memory"), std::string::npos) << error.what();
  }
}

/// Blocks of fields with `.previous` need a fourth array, which launches of several steps write, too.
TEST(PlansOfSystems, CountTheArraysOfLaunches) {
  const Problem problem = planned(waves, {"p"}, {"c"});
  EXPECT_EQ(problem.array_count(1), 3u);
  EXPECT_EQ(problem.array_count(2), 4u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Systems,
                         ::testing::Combine(testing::devices(), ::testing::Range(0, parts_of_problems)),
                         [](const auto& given) {
                           return std::get<0>(given.param) + ("_" + std::to_string(std::get<1>(given.param)));
                         });

}  // namespace
}  // namespace spsolve
