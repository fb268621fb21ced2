// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kernels/catalogue/presets.hpp"
#include "kernels/cpu/correlate_rows.hpp"
#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/cpu/make_tap_schedule.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/cpu/star_rows.hpp"
#include "kernels/reference.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve {
namespace {

using testing::advance_on_cpu;
using testing::RandomCase;

class CpuUnitSeeds : public ::testing::TestWithParam<int> {};

TEST_P(CpuUnitSeeds, MatchesReferenceInEveryPrecision) {
  RandomCase problem(static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 5));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
  // The weights have sum of magnitudes 1 and the source magnitude 1, so nothing exceeds k + 1 after k steps.
  const double largest = steps + 1.0;
  for (const Precision precision : all_precisions) {
    const auto found = advance_on_cpu(problem, precision, steps, problem.u);
    const double bound = testing::launch_bound(problem.stencil, precision, steps, largest);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << to_string(precision) << " at point " << i;
  }
}

TEST_P(CpuUnitSeeds, FusedStepsHaveTheBitsOfSingleSteps) {
  RandomCase problem(1000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(2, 6));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32}) {
    std::vector<double> single = advance_on_cpu(problem, precision, 1, problem.u);
    for (int step = 1; step < steps; ++step) single = advance_on_cpu(problem, precision, 1, single);
    EXPECT_EQ(advance_on_cpu(problem, precision, steps, problem.u), single) << to_string(precision);
  }
}

TEST_P(CpuUnitSeeds, RegionsHaveTheBitsOfTheWhole) {
  RandomCase problem(2000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 4));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const std::vector<Box> regions = testing::random_regions(problem);
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16})
    EXPECT_EQ(advance_on_cpu(problem, precision, steps, problem.u, regions),
              advance_on_cpu(problem, precision, steps, problem.u))
        << to_string(precision);
}

/// Data, ghosts and, in tf32, weights are rounded to the format, so rounding them beforehand must change
/// nothing.
TEST_P(CpuUnitSeeds, OperandsAreNumbersOfTheFormat) {
  RandomCase problem(3000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 4));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  for (const Precision precision : all_precisions) {
    const auto round = [&](double& value) {
      value = with_storage(precision, [&]<class Storage>() {
        return static_cast<double>(static_cast<Compute<Storage>>(to_storage<Storage>(value)));
      });
    };
    RandomCase rounded = problem;
    std::for_each(rounded.u.begin(), rounded.u.end(), round);
    for (auto& faces : rounded.domain.faces)
      for (Face& face : faces) round(face.value);
    rounded.stencil = step_weights(problem.stencil, precision);
    if (precision == Precision::tf32)
      for (const Tap& tap : rounded.stencil.taps()) {
        double operand = tap.weight;
        round(operand);
        EXPECT_EQ(operand, tap.weight);
      }
    EXPECT_EQ(advance_on_cpu(rounded, precision, steps, rounded.u),
              advance_on_cpu(problem, precision, steps, problem.u))
        << to_string(precision);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, CpuUnitSeeds, ::testing::Range(0, 120));

TEST(CpuUnit, GridsLargerThanATileMatchReference) {
  for (const Index3 shape : {Index3{1, 1, 40009}, Index3{1, 61, 5003}, Index3{67, 129, 71}}) {
    RandomCase problem(shape[2]);
    problem.domain = {shape[0] > 1 ? 3 : shape[1] > 1 ? 2 : 1, shape, {}};
    problem.domain.faces[x_axis] = {Face{BoundaryKind::dirichlet, 0.5}, Face{BoundaryKind::neumann}};
    problem.stencil = problem.random_stencil(2);
    problem.u = problem.uniform(volume(shape));
    problem.source = problem.uniform(volume(shape));
    const int steps = 5;
    const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
    const auto found = advance_on_cpu(problem, Precision::fp64, steps, problem.u);
    const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps, steps + 1.0);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << problem.describe() << " at " << i;
  }
}

/// Returns which points of a row may bypass the caches: none, or those of a periodic row or a row between
/// walls.
template <class T>
std::vector<Range> ranges_past_caches(const T* row, std::int64_t points, std::int64_t radius) {
  const Domain periodic{1, {1, 1, points}, {}};
  Domain walls = periodic;
  walls.faces[x_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
  const Range all{0, points};
  return {
      {0, 0}, points_past_caches(row, periodic, radius, all), points_past_caches(row, walls, radius, all)};
}

/// Compares rows that are computed by a schedule with chains of multiply-adds, point by point, at every begin
/// and for rows of `shortest` to 319 points. Inputs lie within `reach` of the first row.
void expect_bits_of_chains(const std::vector<Index3>& offsets, std::int64_t reach, std::int64_t shortest,
                           const auto& schedule_of) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  constexpr std::int64_t room = 320;
  std::vector<double> weights(offsets.size());
  std::generate(weights.begin(), weights.end(), [&] { return value(random); });
  const TapSchedule<double> schedule = schedule_of(weights);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> planes;  // by stream and cross
  std::array<std::vector<double>, max_rows> sources;
  const auto draw = [&](std::vector<double>& row) {
    row.resize(room);
    std::generate(row.begin(), row.end(), [&] { return value(random); });
  };
  for (std::int64_t s = -reach; s < max_rows + reach; ++s)
    for (std::int64_t c = -reach; c <= reach; ++c) draw(planes[{s, c}]);
  for (auto& source : sources) draw(source);
  std::vector<AlignedArray<double>> found;
  for (int p = 0; p < max_rows; ++p) found.emplace_back(room);
  for (std::int64_t begin = reach; begin < reach + 17; ++begin)
    for (std::int64_t points = shortest; begin + points < room - reach; points += points < 20 ? 1 : 23)
      for (const Range& past : ranges_past_caches(found[0].begin() + begin, points, reach)) {
        std::vector<const double*> inputs;
        for (const Index3& at : schedule.inputs)
          inputs.push_back(planes.at({at[0], at[1]}).data() + begin + at[2]);
        Rows<double, double> group{points, &schedule, inputs.data()};
        group.past_caches = past;
        std::array<std::vector<double>, max_rows> expected;
        for (int p = 0; p < schedule.rows; ++p) {
          expected[p].assign(room, 9.0);
          for (std::int64_t x = begin; x < begin + points; ++x) {
            expected[p][x] = sources[p][x];
            for (std::size_t k = 0; k < offsets.size(); ++k)
              expected[p][x] = std::fma(
                  weights[k], planes[{offsets[k][0] + p, offsets[k][1]}][x + offsets[k][2]], expected[p][x]);
          }
          group.source[p] = sources[p].data() + begin;
        }
        const auto expect_bits = [&](auto correlate) {
          for (int p = 0; p < schedule.rows; ++p) {
            std::fill_n(found[p].begin(), room, 9.0);
            group.out[p] = found[p].begin() + begin;
            group.leading[p] = inputs[0];
          }
          correlate(group);
          for (int p = 0; p < schedule.rows; ++p)
            ASSERT_TRUE(std::equal(expected[p].begin(), expected[p].end(), found[p].begin()))
                << "row " << p << " of " << schedule.rows << ", begin " << begin << ", points " << points;
        };
        using Vector = std::experimental::native_simd<double>;
        expect_bits([](const auto& all) { correlate_rows_widest(all); });
        expect_bits([](const auto& all) {
          all.schedule->star ? correlate_star<Vector>(all) : correlate_rows<Vector>(all);
        });
      }
}

/// Points that are read again soon, and parts of cache lines, go through the caches.
TEST(PointsPastCaches, AreWholeLinesWithoutReflectedPoints) {
  const AlignedArray<float> memory(400);
  for (std::int64_t begin = 16; begin < 33; ++begin)
    for (std::int64_t points = 1; points < 300; points += 7)
      for (const std::int64_t radius : {1, 8, 20}) {
        const auto ranges = ranges_past_caches(memory.begin() + begin, points, radius);
        const std::int64_t line = cache_line / sizeof(float);
        for (const Range& past : ranges) {
          if (past.empty()) continue;
          EXPECT_GE(past.begin, 0);
          EXPECT_LE(past.end, points);
          EXPECT_EQ((begin + past.begin) % line, 0) << begin << " " << points;
          EXPECT_EQ((begin + past.end) % line, 0) << begin << " " << points;
        }
        EXPECT_GT(ranges[1].end - ranges[1].begin, points - 4 * line) << begin << " " << points;
        if (ranges[2].empty()) continue;
        EXPECT_GE(ranges[2].begin, radius);
        EXPECT_LE(ranges[2].end, points - radius);
      }
}

/// The taps of a column along the stream axis have gaps, so that inputs serve rows that are not neighbours.
TEST(CorrelateRows, HaveTheBitsOfAScalarChainAtEveryBeginAndLength) {
  const std::vector<Index3> offsets{{-2, 0, 0}, {-1, 0, -1}, {-1, 0, 0}, {-1, 0, 1},
                                    {0, 0, 0},  {0, 1, -1},  {1, 0, 0},  {3, 0, 0}};
  for (const int rows : {1, max_rows})
    expect_bits_of_chains(offsets, 3, 1, [&](const std::vector<double>& weights) {
      return make_tap_schedule(offsets, weights, rows);
    });
}

TEST(CorrelateRows, HaveTheBitsOfAScalarChainForStars) {
  for (int radius = 1; radius <= widest_star; ++radius) {
    SCOPED_TRACE("radius " + std::to_string(radius));
    const std::vector<Index3> offsets = star_offsets(radius);
    expect_bits_of_chains(offsets, radius, shortest_star_row,
                          [&](const auto& weights) { return star_schedule(offsets, weights).value(); });
  }
}

/// Stars are computed in groups of planes. The planes of a box of three are not; they have the same bits in
/// every format, beside walls of all kinds and with a source.
TEST(CpuUnit, StarsHaveTheSameBitsInEveryGroupOfPlanes) {
  for (const int radius : {1, 2, 4, 8}) {
    RandomCase problem(static_cast<std::uint64_t>(radius));
    const Index3 shape{11, 9, 70};
    problem.domain = {3, shape, {}};
    if (radius != 4) {
      problem.domain.faces[z_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
      problem.domain.faces[y_axis] = {Face{BoundaryKind::dirichlet, -0.25}, Face{BoundaryKind::neumann}};
    }
    const std::int64_t width = 2 * radius + 1;
    std::vector<double> weights(static_cast<std::size_t>(width * width * width));
    for (const Index3& offset : star_offsets(radius))
      weights[static_cast<std::size_t>(
          index_of(offset + Index3{radius, radius, radius}, {width, width, width}))] =
          problem.uniform(1)[0] / (6 * radius + 1);
    problem.stencil = Stencil({width, width, width}, weights, {radius, radius, radius});
    problem.u = problem.uniform(volume(shape));
    problem.source = problem.uniform(volume(shape));
    std::vector<Box> thin;
    for (std::int64_t z = 0; z < shape[z_axis]; z += 3)
      thin.push_back({{z, 0, 0}, {std::min(z + 3, shape[z_axis]), shape[y_axis], shape[x_axis]}});
    for (const Precision precision : all_precisions)
      EXPECT_EQ(advance_on_cpu(problem, precision, 1, problem.u),
                advance_on_cpu(problem, precision, 1, problem.u, thin))
          << to_string(precision) << ", radius " << radius;
  }
}

TEST(CorrelateRows, ShareInputsOfBoxes) {
  const auto offsets = [](const Stencil& stencil) {
    return tap_offsets(stencil, Axes(Domain{2, {1, 9, 9}, {}}));
  };
  const Stencil box = make_preset("box2d3r", 2, {1.0, 1.0, 1.0}, {}),
                star = make_preset("star2d3r", 2, {1.0, 1.0, 1.0}, {});
  EXPECT_TRUE(pays_in_groups(offsets(box), Precision::fp32));
  EXPECT_FALSE(pays_in_groups(offsets(star), Precision::fp64));
  const std::vector<double> weights(box.taps().size(), 1.0);
  // Four rows read ten rows of seven points each, every one of them once.
  EXPECT_EQ(make_tap_schedule(offsets(box), weights, max_rows).inputs.size(), 70u);
  EXPECT_EQ(make_tap_schedule(offsets(box), weights, 1).inputs.size(), 49u);
  EXPECT_TRUE(pays_in_groups(star_offsets(4), Precision::fp64));
  EXPECT_TRUE(pays_in_groups(star_offsets(4), Precision::fp32));
  EXPECT_FALSE(pays_in_groups(star_offsets(4), Precision::bf16));
}

}  // namespace
}  // namespace spsolve
