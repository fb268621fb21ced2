// SPDX-License-Identifier: Apache-2.0
// Runs the march, as it is compiled for GPUs, in an emulation of its blocks. No GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "emulated.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/reference.hpp"
#include "march_case.hpp"
#include "tests/support/whole_grid.hpp"
#include "tile_map.hpp"

namespace spsolve::cuda {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns the part of the grid that the march takes. Planes beside neumann faces that it does not reflect
/// are left to single steps.
Box marched(const MarchCase& c, const testing::RandomCase& problem, int slow) {
  Box region = problem.domain.box();
  region.begin[x_axis] = c.first_column;
  if (c.stencil().mirrors_planes()) return region;
  const auto [first, last] = problem.domain.faces[slow];
  if (first.kind == neumann) region.begin[slow] += c.steps * problem.stencil.radius()[slow];
  if (last.kind == neumann) region.end[slow] -= c.steps * problem.stencil.radius()[slow];
  return region;
}

/// Runs one launch. With `dealt`, tiles of several rows are shared by half as many blocks again as there are
/// tiles, so that the ends of all tiles become short stretches; otherwise by one block less than tiles, so
/// that one tile is cut into stretches. Tiles of one row are cut along the march, in 2D the first and last
/// columns into more stretches.
void launch(const MarchCase& c, const Field& in, Field& out, Field& before, const Field& source,
            const Box& region, const testing::RandomCase& problem, bool dealt) {
  const MarchTile tile = c.tile();
  ScalarArguments a = scalar_arguments(problem, in, out, source, region);
  a.to_previous = (before.bytes_at({}) - out.bytes_at({})) / c.formats().out_bytes();
  c.place(a);
  const auto maps_of = [&](const View& view, int bytes) {
    return std::array{emulated::TileMap{{view, bytes, tile.box_rows(), tile.box_columns()}},
                      emulated::TileMap{{view, bytes, tile.box_rows(), tile.columns()}, a.row_period}};
  };
  const auto in_maps = maps_of(a.in, c.formats().in_bytes()),
             source_maps = maps_of(a.source, c.formats().compute_bytes());
  for (std::size_t k = 0; k < 2; ++k) {
    emulated::set_tile_map(a.in_map[k], &in_maps[k]);
    emulated::set_tile_map(a.source_map[k], &source_maps[k]);
  }
  const int columns = a.column_tiles;
  const auto rows = static_cast<int>(tiles_of_rows(a.region, c.stencil(), tile).count());
  const std::int64_t planes = a.region.end[0] - a.region.begin[0];
  if (c.stencil().radius[row_axis] > 0) {
    const int tiles = columns * rows;
    a.shares = share_march(planes, tiles, dealt ? tiles + tiles / 2 : std::max(1, tiles - 1), 1);
    EXPECT_EQ(a.shares.short_stretches > 0, dealt);
    return launch_emulated_march(a, a.shares.blocks(), 1, 1, 32 * tile.warps);
  }
  const auto [low, high] = c.stencil().has_walls(column_axis) ? outer_tiles(a, tile) : no_outer_tiles;
  const int fewer = static_cast<int>(planes / 5 / 4);
  a.stretches = planes == 1 ? MarchStretches{{low, high}, {1, 0}, {1, 0}}
                            : MarchStretches{{low, high}, {7, fewer}, {5, fewer}};
  launch_emulated_march(a, static_cast<int>(a.stretches.blocks(columns)), rows, 1, 32 * tile.warps);
}

/// Returns the values after the steps of a launch by single steps on the CPU, and those one step before.
std::pair<std::vector<double>, std::vector<double>> expected_levels(const MarchCase& c,
                                                                    const testing::RandomCase& problem) {
  const Precision precision = c.shape.precision;
  if (c.previous == 0) return {advance_on_cpu(problem, precision, c.steps, problem.u), {}};
  std::vector<double> now = problem.u, before = problem.source;
  for (int step = 0; step < c.steps; ++step) {
    testing::RandomCase single = problem;  // values one step before are its source
    for (std::size_t i = 0; i < before.size(); ++i)
      single.source[i] = precision == Precision::fp64
                             ? c.previous * before[i]
                             : static_cast<float>(c.previous) * static_cast<float>(before[i]);
    before = std::exchange(now, advance_on_cpu(single, precision, 1, now));
  }
  return {now, before};
}

/// Compares the values of a field in a region with the expected ones, and checks that no value outside of the
/// region is written.
void expect_points(const MarchCase& c, const testing::RandomCase& problem, const Field& out,
                   const std::vector<double>& expected, const Box& all, const Box& region, bool of_part) {
  const auto found = testing::points_of(out, out.owned());
  // Folded sums round at other places than the sums of the CPU.
  const bool folded = c.stencil().folded != std::array<bool, 3>{};
  const double bound =
      2 * testing::rounding_bound(problem.stencil, unit_roundoff(c.shape.precision), c.steps, c.steps + 1.0);
  std::size_t i = 0, wrong = 0;
  for_each_point(out.owned(), [&](const Index3& p) {
    const double value = found[i++],
                 wanted = expected[static_cast<std::size_t>(index_of(p, problem.domain.shape))];
    if (!contains(region, p)) {
      if (of_part && contains(all, p) && !std::isnan(value) && wrong++ < 5)
        ADD_FAILURE() << p[0] << ", " << p[1] << ", " << p[2] << " is not of the region";
      return;
    }
    const bool right = folded ? std::abs(value - wanted) <= bound : value == wanted;
    if (!right && wrong++ < 5)
      ADD_FAILURE() << value << " for " << wanted << " at " << p[0] << ", " << p[1] << ", " << p[2];
  });
  EXPECT_EQ(wrong, 0u);
}

/// Holds the values that all launches of a case begin with, and those that they must give.
class Launches {
 public:
  explicit Launches(const MarchCase& march_case)
      : case_(march_case),
        source_(grid(sum_precision(case_.shape.precision), problem_.source, false)),
        in_(grid(case_.shape.precision, problem_.u, true)) {}

  /// Compares the march on the marched grid, or on a part of it, with the CPU unit. Returns false if that
  /// part is empty.
  bool have_the_bits_of_the_cpu_unit(bool dealt, const std::optional<Box>& part = {}) const {
    const Box all = marched(case_, problem_, grid_axes(problem_.domain)[plane_axis]);
    const Box region = part ? intersect(all, *part) : all;
    if (region.empty()) return false;
    Field out = unwritten(), before = unwritten();
    launch(case_, in_, out, before, source_, region, problem_, dealt);
    const auto& [expected, expected_before] = expected_;
    if (case_.previous != 0)
      expect_points(case_, problem_, before, expected_before, all, region, part.has_value());
    expect_points(case_, problem_, out, expected, all, region, part.has_value());
    return true;
  }

 private:
  Field grid(Precision precision, const std::vector<double>& values, bool halo_beside_walls) const {
    return whole_grid(problem_, precision, case_.steps, values, halo_beside_walls,
                      {false, false, case_.wraps_rows()}, case_.first_column);
  }
  Field unwritten() const {
    return grid(case_.shape.precision, std::vector<double>(problem_.u.size(), nan), true);
  }

  const MarchCase& case_;
  const testing::RandomCase problem_ = case_.problem();
  const std::pair<std::vector<double>, std::vector<double>> expected_ = expected_levels(case_, problem_);
  Field source_, in_;
};

TEST(EmulatedMarch, HasTheBitsOfTheCpuUnit) {
  EXPECT_TRUE(Launches(case_named(emulated_case, march_cases)).have_the_bits_of_the_cpu_unit(false));
}

/// Marches parts of rows, as ranks do whose neighbours have the rest of the rows: only one end is at a wall.
TEST(EmulatedMarch, HasThemOnPartsOfRows) {
  const MarchCase& c = case_named(emulated_case, march_cases);
  constexpr std::int64_t cut = 7 * max_points_per_lane;
  if (c.wraps_rows()) GTEST_SKIP() << "rows that repeat are whole";
  if (c.shape.shape[x_axis] < 2 * cut || c.first_column > 0) GTEST_SKIP() << "too short";
  Box first = box_of(c.shape.shape), rest = first;
  first.end[x_axis] = rest.begin[x_axis] = cut;
  const Launches launches(c);
  EXPECT_TRUE(launches.have_the_bits_of_the_cpu_unit(false, first));
  EXPECT_TRUE(launches.have_the_bits_of_the_cpu_unit(false, rest));
}

/// Marches the interior of a block and its edges, which are thinner than their halo, beside walls and one or
/// two points away from them.
TEST(EmulatedMarch, HasThemOnSlabs) {
  const MarchCase& c = case_named(emulated_case, march_cases);
  const Box grid = box_of(c.shape.shape);
  Box inner = grid;
  for (const int axis : {z_axis, y_axis}) {
    inner.begin[axis] = std::min<std::int64_t>(1, grid.end[axis] - 1);
    inner.end[axis] = std::max<std::int64_t>(grid.end[axis] - 2, inner.begin[axis] + 1);
  }
  const Launches launches(c);
  int parts = launches.have_the_bits_of_the_cpu_unit(false, inner);
  for_each_slab(grid, inner,
                [&](const Box& slab) { parts += launches.have_the_bits_of_the_cpu_unit(false, slab); });
  EXPECT_GT(parts, 0);
}

TEST(EmulatedMarch, HasThemWhereTheEndsOfTilesAreDealt) {
  const MarchCase& c = case_named(emulated_case, march_cases);
  if (c.stencil().radius[row_axis] == 0) GTEST_SKIP() << "tiles of one row are cut into stretches";
  if (c.shape.shape[y_axis] < c.tile().rows() && c.shape.shape[x_axis] < c.tile().columns())
    GTEST_SKIP() << "one tile";
  EXPECT_TRUE(Launches(c).have_the_bits_of_the_cpu_unit(true));
}

}  // namespace
}  // namespace spsolve::cuda
