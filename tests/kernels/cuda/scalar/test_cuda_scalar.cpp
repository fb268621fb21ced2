// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/scalar_unit.hpp"
#include "kernels/reference.hpp"
#include "tests/kernels/cuda/scalar/tile_shapes.hpp"
#include "tests/support/catalogue_case.hpp"
#include "tests/support/device_fields.hpp"
#include "tests/support/shape_case.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve::cuda {
namespace {

using testing::advance_on_cpu;
using testing::make_problem;
using testing::RandomCase;
using testing::ShapeCase;
using testing::to_device;
using testing::to_host;
using testing::whole_grid;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Advances by `steps` steps on the GPU, with one advance() per region. Points outside all regions stay NaN.
/// There is no source if the problem's source is empty, and there are no periodic copies along the axes in
/// `wraps`.
std::vector<double> advance_on_gpu(const RandomCase& problem, Precision precision, int steps,
                                   const std::vector<double>& values, const std::vector<Box>& regions,
                                   bool halo_beside_walls = true, const std::array<bool, 3>& wraps = {}) {
  std::optional<Field> source;
  if (!problem.source.empty())
    source = to_device(
        whole_grid(problem, sum_precision(precision), steps, problem.source, halo_beside_walls, wraps));
  const Field in = to_device(whole_grid(problem, precision, steps, values, halo_beside_walls, wraps));
  const std::vector<double> untouched(values.size(), nan);
  Field out = to_device(whole_grid(problem, precision, steps, untouched, halo_beside_walls, wraps));
  const Stream stream;
  const ScalarUnit unit(problem.domain, problem.stencil, precision, source ? &*source : nullptr, stream,
                        wraps);
  for (const Box& region : regions) unit.advance(in, out, region, steps);
  stream.synchronize();
  return testing::points_of(to_host(out), problem.domain.box());
}

class NeedsGpu : public ::testing::Test {
 protected:
  void SetUp() override { testing::require_gpu(); }
};
class CudaScalarSeeds : public NeedsGpu, public ::testing::WithParamInterface<int> {
 protected:
  /// In 3D only the larger grids are long enough for a march beside walls.
  static std::int64_t largest_grid() { return GetParam() % 2 ? 4000 : 20000; }
  /// Only two of all precisions are tested, since each needs a kernel to be compiled.
  static std::array<Precision, 2> precisions() {
    return {all_precisions[GetParam() % 5], all_precisions[(GetParam() + 2) % 5]};
  }
};

TEST_P(CudaScalarSeeds, MatchesReference) {
  RandomCase problem(static_cast<std::uint64_t>(GetParam()), 3, largest_grid());
  const int steps = static_cast<int>(problem.between(1, 5));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
  const double largest =
      steps + 1.0;  // weights and source have magnitude 1, so nothing exceeds k + 1 after k steps
  for (const Precision precision : precisions()) {
    const auto found = advance_on_gpu(problem, precision, steps, problem.u, {problem.domain.box()},
                                      problem.between(0, 1) == 1);
    const double bound = testing::launch_bound(problem.stencil, precision, steps, largest);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << to_string(precision) << " at point " << i;
  }
}

TEST_P(CudaScalarSeeds, HasTheBitsOfTheCpuUnitInAnyRegions) {
  RandomCase problem(2000 + static_cast<std::uint64_t>(GetParam()), 3, largest_grid());
  const int steps = static_cast<int>(problem.between(1, 6));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const auto regions = testing::random_regions(problem);
  for (const Precision precision : precisions())
    EXPECT_EQ(advance_on_gpu(problem, precision, steps, problem.u, regions),
              advance_on_cpu(problem, precision, steps, problem.u))
        << to_string(precision);
}

/// Tests the catalogue of stencils, in parts that can run concurrently: every kernel must be compiled.
class CudaScalarCatalogue : public NeedsGpu, public ::testing::WithParamInterface<std::size_t> {};
constexpr std::size_t catalogue_parts = 16;

TEST_P(CudaScalarCatalogue, MatchesReference) {
  const int steps = 2;
  for (std::size_t i = GetParam(); i < catalogue().size(); i += catalogue_parts) {
    const CatalogueEntry& entry = catalogue()[i];
    const RandomCase problem = testing::catalogue_case(entry);
    const Precision precision = entry.name.size() % 2 ? Precision::fp64 : Precision::fp32;
    const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
    const auto found = advance_on_gpu(problem, precision, steps, problem.u, {problem.domain.box()});
    const double bound = testing::launch_bound(problem.stencil, precision, steps, steps + 1.0);
    for (std::size_t point = 0; point < expected.size(); ++point)
      ASSERT_NEAR(found[point], expected[point], bound) << entry.name << " at point " << point;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, CudaScalarCatalogue, ::testing::Range(std::size_t{0}, catalogue_parts));
INSTANTIATE_TEST_SUITE_P(Random, CudaScalarSeeds, ::testing::Range(0, 40));

/// Tests shapes for the fused kernel, on grids of several tiles, with walls of every kind.
class CudaScalarShapes : public NeedsGpu, public ::testing::WithParamInterface<ShapeCase> {};

TEST_P(CudaScalarShapes, FusedStepsHaveTheBitsOfTheCpuUnit) {
  const ShapeCase& c = GetParam();
  RandomCase problem = make_problem(c);
  const Stream stream;
  const int preferred =
      ScalarUnit(problem.domain, problem.stencil, c.precision, nullptr, stream).preferred_steps();
  const auto regions = testing::random_regions(problem);
  for (const int steps : {preferred, 1, preferred + 1}) {
    const auto expected = advance_on_cpu(problem, c.precision, steps, problem.u);
    const auto whole = advance_on_gpu(problem, c.precision, steps, problem.u, {problem.domain.box()}, false);
    EXPECT_EQ(whole, expected) << steps << " steps";
    EXPECT_EQ(advance_on_gpu(problem, c.precision, steps, problem.u, regions), expected)
        << steps << " steps in regions";
  }
}

constexpr auto periodic = BoundaryKind::periodic;
constexpr auto dirichlet = BoundaryKind::dirichlet;
constexpr auto neumann = BoundaryKind::neumann;

std::string name_of(const ::testing::TestParamInfo<ShapeCase>& test) {
  const ShapeCase& c = test.param;
  return std::string(c.name) +
         (c.shape[0] > 1   ? "3d_"
          : c.shape[1] > 1 ? "2d_"
                           : "1d_") +
         "pdn"[static_cast<int>(c.walls)] + "_" + std::string(to_string(c.precision));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CudaScalarShapes,
    ::testing::Values(ShapeCase{"line", {1, 1, 10007}, {0, 0, 1}, true, dirichlet, Precision::fp64},
                      ShapeCase{"line2", {1, 1, 5003}, {0, 0, 2}, true, neumann, Precision::fp16},
                      ShapeCase{"star", {1, 301, 397}, {0, 1, 1}, true, dirichlet, Precision::fp32},
                      ShapeCase{"star", {1, 301, 397}, {0, 1, 1}, true, neumann, Precision::fp64},
                      ShapeCase{"star", {1, 301, 397}, {0, 1, 1}, true, periodic, Precision::bf16},
                      ShapeCase{"box", {1, 203, 397}, {0, 1, 1}, false, neumann, Precision::fp32},
                      ShapeCase{"box", {1, 203, 397}, {0, 1, 1}, false, dirichlet, Precision::fp64},
                      ShapeCase{"star2", {1, 203, 397}, {0, 2, 2}, true, dirichlet, Precision::fp32},
                      ShapeCase{"box3", {1, 103, 397}, {0, 3, 3}, false, neumann, Precision::fp64},
                      ShapeCase{"uneven", {1, 103, 397}, {0, 2, 1}, false, neumann, Precision::tf32},
                      ShapeCase{"star", {37, 101, 263}, {1, 1, 1}, true, dirichlet, Precision::fp32},
                      ShapeCase{"star", {37, 101, 263}, {1, 1, 1}, true, neumann, Precision::fp32},
                      ShapeCase{"star", {37, 101, 133}, {1, 1, 1}, true, dirichlet, Precision::fp64},
                      ShapeCase{"star", {37, 101, 133}, {1, 1, 1}, true, periodic, Precision::fp16},
                      ShapeCase{"box", {37, 101, 263}, {1, 1, 1}, false, neumann, Precision::fp32},
                      ShapeCase{"box", {37, 101, 133}, {1, 1, 1}, false, dirichlet, Precision::fp64},
                      ShapeCase{"star2", {23, 61, 263}, {2, 2, 2}, true, neumann, Precision::fp32},
                      ShapeCase{"box4", {19, 23, 29}, {4, 4, 4}, false, neumann, Precision::fp32},
                      // This grid has more rows than a launch has blocks along an axis.
                      ShapeCase{"rows", {5, 66001, 19}, {1, 0, 1}, true, periodic, Precision::fp32},
                      // These tiles have more columns than a tensor copy takes.
                      ShapeCase{"flat", {37, 101, 523}, {0, 1, 1}, false, dirichlet, Precision::fp32},
                      ShapeCase{"flat", {37, 101, 523}, {0, 1, 1}, true, neumann, Precision::fp16},
                      ShapeCase{"flat", {37, 101, 523}, {0, 2, 1}, true, periodic, Precision::fp64},
                      ShapeCase{"long", {23, 61, 523}, {1, 1, 11}, true, dirichlet, Precision::fp32},
                      ShapeCase{"long", {23, 61, 523}, {1, 1, 9}, true, periodic, Precision::fp64}),
    name_of);
INSTANTIATE_TEST_SUITE_P(Boxes, CudaScalarShapes, ::testing::ValuesIn(testing::box_shapes), name_of);
INSTANTIATE_TEST_SUITE_P(Stars, CudaScalarShapes, ::testing::ValuesIn(testing::star_shapes), name_of);

/// Describes grids without periodic copies along these axes; other axes than x may have walls.
struct WrapsCase {
  ShapeCase shape;
  std::array<bool, 3> wraps;
  bool single_steps = false;  // single steps by tiles in shared memory, in any regions
};
class CudaScalarWraps : public NeedsGpu, public ::testing::WithParamInterface<WrapsCase> {};

TEST_P(CudaScalarWraps, HaveTheBitsOfTheCpuUnitWithoutImages) {
  const auto& [c, wraps, single_steps] = GetParam();
  RandomCase problem = make_problem(c);
  problem.domain.faces[x_axis] = {};
  const Stream stream;
  const int preferred =
      ScalarUnit(problem.domain, problem.stencil, c.precision, nullptr, stream).preferred_steps();
  const int most = single_steps ? 1 : 2 * preferred + 1;  // several kernels per advance()
  const KernelStencil stencil(problem.domain, problem.stencil, c.precision, true);
  EXPECT_EQ(
      to_grid_axes(wrapped_axes(stencil, stencil.grid(), c.precision, most, current_device().block_limits()),
                   problem.domain),
      wraps);
  std::vector<std::vector<Box>> launches{{problem.domain.box()}};
  if (single_steps) launches.push_back(testing::random_regions(problem));
  for (const int steps : std::set{most, preferred, 1})
    for (const auto& regions : launches)
      EXPECT_EQ(advance_on_gpu(problem, c.precision, steps, problem.u, regions, true, wraps),
                advance_on_cpu(problem, c.precision, steps, problem.u))
          << steps << " steps";
}

constexpr std::array<bool, 3> no_axis{}, rows{false, false, true}, plane{false, true, true},
    all_axes{true, true, true}, but_rows{true, true, false};
INSTANTIATE_TEST_SUITE_P(
    Shapes, CudaScalarWraps,
    ::testing::Values(
        WrapsCase{{"star", {37, 101, 264}, {1, 1, 1}, true, periodic, Precision::fp32}, rows},
        WrapsCase{{"star", {37, 101, 264}, {1, 1, 1}, true, dirichlet, Precision::fp16}, rows},
        WrapsCase{{"star", {37, 101, 266}, {1, 1, 1}, true, dirichlet, Precision::fp32}, no_axis},
        WrapsCase{{"box", {37, 101, 134}, {1, 1, 1}, false, periodic, Precision::fp64}, rows},
        WrapsCase{{"box", {37, 101, 264}, {1, 1, 1}, false, periodic, Precision::tf32}, rows},
        WrapsCase{{"box", {37, 101, 264}, {1, 1, 1}, false, neumann, Precision::fp32}, no_axis},
        WrapsCase{{"flat", {37, 101, 524}, {0, 1, 1}, false, periodic, Precision::fp32}, rows},
        WrapsCase{{"star", {131, 201, 262}, {4, 4, 4}, true, neumann, Precision::fp64}, rows, true},
        WrapsCase{{"star", {131, 201, 263}, {4, 4, 4}, true, neumann, Precision::fp64}, no_axis, true},
        WrapsCase{{"star", {131, 201, 263}, {4, 4, 4}, true, periodic, Precision::fp64}, but_rows, true},
        WrapsCase{{"star", {131, 165, 232}, {6, 5, 6}, true, periodic, Precision::fp32}, all_axes, true},
        WrapsCase{{"star", {121, 193, 240}, {5, 6, 7}, true, dirichlet, Precision::fp16}, rows, true},
        WrapsCase{{"star", {121, 193, 240}, {8, 8, 8}, true, periodic, Precision::bf16}, all_axes, true},
        WrapsCase{{"star", {1, 1203, 1000}, {0, 12, 11}, true, periodic, Precision::tf32}, plane, true},
        WrapsCase{{"layers", {403, 15, 600}, {9, 0, 9}, true, periodic, Precision::fp32},
                  {true, false, true},
                  true},
        WrapsCase{{"box", {101, 131, 168}, {3, 3, 3}, false, dirichlet, Precision::fp32}, rows, true},
        WrapsCase{{"box", {37, 61, 133}, {3, 3, 3}, false, periodic, Precision::fp64}, but_rows, true},
        WrapsCase{{"box", {61, 93, 136}, {5, 4, 3}, false, periodic, Precision::bf16}, all_axes, true}),
    [](const auto& test) {
      const ShapeCase& c = test.param.shape;
      return std::string(c.name) + "_" + std::to_string(test.index) + "_" +
             std::string(to_string(c.precision));
    });

/// Tests grids that are large enough for wide tiles.
class CudaScalarWide : public NeedsGpu, public ::testing::WithParamInterface<ShapeCase> {};

TEST_P(CudaScalarWide, HasTheBitsOfTheCpuUnitInAnyRegions) {
  const ShapeCase& c = GetParam();
  const int steps = 4;
  RandomCase problem = make_problem(c);
  const auto tile = choose_march_tile({problem.domain, problem.stencil, c.precision, true},
                                      {c.precision, true, true}, steps, current_device().block_limits());
  ASSERT_EQ(tile->points_per_lane, 8);
  EXPECT_EQ(advance_on_gpu(problem, c.precision, steps, problem.u, testing::random_regions(problem)),
            advance_on_cpu(problem, c.precision, steps, problem.u));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CudaScalarWide,
    ::testing::Values(ShapeCase{"star", {1, 7001, 9973}, {0, 2, 2}, true, dirichlet, Precision::fp32},
                      ShapeCase{"box", {1, 7001, 9973}, {0, 2, 1}, false, neumann, Precision::fp16},
                      ShapeCase{"star", {1, 7001, 9973}, {0, 1, 2}, true, periodic, Precision::tf32}));

/// Tests a stencil for which tiles beside walls are shorter than the halo of 5 rows.
class CudaScalarTallStar : public NeedsGpu {};

TEST_F(CudaScalarTallStar, HasTheBitsOfTheCpuUnitBesideWalls) {
  for (const BoundaryKind walls : {dirichlet, neumann}) {
    RandomCase problem = make_problem({"tall", {53, 61, 397}, {2, 1, 1}, true, walls, Precision::fp64});
    EXPECT_EQ(advance_on_gpu(problem, Precision::fp64, 5, problem.u, {problem.domain.box()}, false),
              advance_on_cpu(problem, Precision::fp64, 5, problem.u));
  }
}

/// Describes box stencils that are their own mirror images; their sums have another order than on the CPU.
struct FoldedCase {
  ShapeCase box;
  std::array<bool, 3> symmetric;
};
class CudaScalarFolded : public NeedsGpu, public ::testing::WithParamInterface<FoldedCase> {};

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> all(values.size());
  std::transform(values.begin(), values.end(), all.begin(),
                 [](double value) { return std::bit_cast<std::uint64_t>(value); });
  return all;
}

/// Without a source, a sum begins with its first plane, which may be -0.
TEST_P(CudaScalarFolded, FusedStepsHaveTheBitsOfSingleStepsWithoutASource) {
  const auto& [c, symmetric] = GetParam();
  RandomCase problem = make_problem(c, symmetric);
  problem.source.clear();
  std::fill(problem.u.begin(), problem.u.begin() + std::ssize(problem.u) / 2, 0.0);
  const std::vector<Box> whole{problem.domain.box()};
  std::vector<double> one_by_one = problem.u;
  for (int step = 0; step < 3; ++step)
    one_by_one = advance_on_gpu(problem, c.precision, 1, one_by_one, whole);
  EXPECT_EQ(bits(advance_on_gpu(problem, c.precision, 3, problem.u, whole, false)), bits(one_by_one));
  EXPECT_EQ(bits(advance_on_gpu(problem, c.precision, 3, problem.u, testing::random_regions(problem))),
            bits(one_by_one));
}

TEST_P(CudaScalarFolded, FusedStepsHaveTheBitsOfSingleSteps) {
  const auto& [c, symmetric] = GetParam();
  RandomCase problem = make_problem(c, symmetric);
  ASSERT_NE(KernelStencil(problem.domain, problem.stencil, c.precision, true).folded,
            (std::array<bool, 3>{false, false, false}));
  const Stream stream;
  const int steps = std::max(
      2, ScalarUnit(problem.domain, problem.stencil, c.precision, nullptr, stream).preferred_steps());
  const std::vector<Box> whole{problem.domain.box()};
  std::vector<double> one_by_one = problem.u;
  for (int step = 0; step < steps; ++step)
    one_by_one = advance_on_gpu(problem, c.precision, 1, one_by_one, whole);
  EXPECT_EQ(advance_on_gpu(problem, c.precision, steps, problem.u, whole, false), one_by_one);
  EXPECT_EQ(advance_on_gpu(problem, c.precision, steps, problem.u, testing::random_regions(problem)),
            one_by_one);

  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
  const double bound =
      testing::rounding_bound(problem.stencil, unit_roundoff(c.precision), steps, steps + 1.0) +
      2 * unit_roundoff(c.precision);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(one_by_one[i], expected[i], bound) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, CudaScalarFolded,
    ::testing::Values(
        FoldedCase{{"box", {1, 203, 397}, {0, 1, 1}, false, dirichlet, Precision::fp32}, {true, true, true}},
        FoldedCase{{"box", {1, 203, 397}, {0, 1, 1}, false, neumann, Precision::fp64}, {true, false, true}},
        FoldedCase{{"box3", {1, 103, 397}, {0, 3, 3}, false, neumann, Precision::fp64}, {true, true, true}},
        FoldedCase{{"box3", {1, 103, 397}, {0, 3, 3}, false, periodic, Precision::fp32}, {true, true, false}},
        FoldedCase{{"box", {37, 101, 263}, {1, 1, 1}, false, neumann, Precision::fp32}, {true, true, true}},
        FoldedCase{{"box", {37, 101, 133}, {1, 1, 1}, false, dirichlet, Precision::fp64}, {true, true, true}},
        FoldedCase{{"box", {37, 101, 263}, {1, 1, 1}, false, neumann, Precision::fp32}, {false, true, false}},
        FoldedCase{{"box", {37, 101, 133}, {1, 1, 1}, false, neumann, Precision::fp64}, {false, false, true}},
        FoldedCase{{"box", {37, 101, 263}, {1, 1, 1}, false, dirichlet, Precision::fp32},
                   {true, false, false}},
        FoldedCase{{"box2", {23, 61, 133}, {2, 2, 2}, false, neumann, Precision::fp32}, {true, true, true}}),
    [](const auto& test) {
      const ShapeCase& c = test.param.box;
      std::string axes;
      for (int axis = 0; axis < axis_count; ++axis)
        if (test.param.symmetric[axis]) axes += "zyx"[axis];
      return std::string(c.name) + (c.shape[0] > 1 ? "3d_" : "2d_") + "pdn"[static_cast<int>(c.walls)] + "_" +
             std::string(to_string(c.precision)) + "_" + axes;
    });

}  // namespace
}  // namespace spsolve::cuda
