// SPDX-License-Identifier: Apache-2.0
// Compiles the kernel templates of the scalar unit by NVRTC and checks how tiles are chosen and placed. No
// GPU is needed.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/scalar/place_tiles.hpp"
#include "kernels/cuda/scalar/point_step_cycles.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"
#include "kernels/cuda/scalar/single_step_tile.hpp"
#include "kernels/cuda/scalar/small_grid_tile.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/cuda/transfer/reducer.hpp"
#include "kernels/error.hpp"
#include "tests/kernels/cuda/compile_log.hpp"
#include "tests/kernels/cuda/device_limits.hpp"
#include "tests/kernels/cuda/scalar/tile_shapes.hpp"

namespace spsolve::cuda {
namespace {

using testing::ampere, testing::hopper;

struct TemplateCase {
  const char* stencil;
  Precision precision;
  BoundaryKind walls;
  bool with_source;
  int steps;                    // depth of march.cuh; 0: kernels of single steps, and in 2D steps.cuh
  int max_spill_bytes;          // on sm_90a, registers and stack; accepted when tiles were chosen
  std::int64_t extent = 10000;  // points along every axis; large 2D grids have wider tiles
};

KernelStencil make(const TemplateCase& c) {
  const int dimensions = preset_dimensions(c.stencil).value();
  Domain domain;
  domain.dimensions = dimensions;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    domain.shape[axis] = c.extent;
    domain.faces[axis] = {Face{c.walls}, Face{c.walls}};
  }
  return {domain, make_preset(c.stencil, dimensions, {1, 1, 1}, {}), c.precision, c.with_source};
}

/// Wide tiles have less halo, which is worth 13% on 10240^2 (star2d1r fp32). Smaller grids need more warps:
/// wide tiles would cost 3% on 4096^2.
TEST(Tiles, AreWideOnLargePlanes) {
  for (const char* stencil : {"star2d1r", "box2d1r"})
    for (const auto& [precision, extent, points_per_lane] :
         {std::tuple{Precision::fp32, 10240, 8}, {Precision::fp32, 4096, 4}, {Precision::fp64, 10240, 4}}) {
      const TemplateCase c{stencil, precision, BoundaryKind::periodic, false, 8, 0, extent};
      EXPECT_EQ(choose_march_tile(make(c), {precision, true, true}, c.steps, hopper)->points_per_lane,
                points_per_lane)
          << stencil << " " << extent;
    }
}

constexpr auto dirichlet = BoundaryKind::dirichlet;
constexpr auto neumann = BoundaryKind::neumann;
constexpr auto periodic = BoundaryKind::periodic;

constexpr TemplateCase template_cases[] = {
    {"star2d3r", Precision::fp16, neumann, true, 0, 0},
    {"box2d3r", Precision::fp64, dirichlet, false, 0, 8},
    {"box3d3r", Precision::fp64, dirichlet, false, 0, 8},
    {"random3d3r", Precision::fp32, dirichlet, true, 0, 0},
    {"random3d4r", Precision::fp64, periodic, false, 0, 0},
    {"random2d15r", Precision::fp16, neumann, false, 0, 0},
    {"star3d4r", Precision::fp64, dirichlet, true, 0, 0},
    {"star3d6r", Precision::fp32, neumann, false, 0, 0},
    {"star3d5r", Precision::fp16, periodic, false, 0, 0},
    {"star2d9r", Precision::fp64, neumann, true, 0, 0},
    {"1d1r", Precision::fp64, dirichlet, false, 8, 0},
    {"1d2r", Precision::bf16, neumann, true, 3, 16},
    {"star2d1r", Precision::fp32, periodic, false, 8, 0},
    {"star2d1r", Precision::fp32, dirichlet, false, 8, 0, 100},
    {"star2d1r", Precision::fp64, dirichlet, false, 8, 0},
    {"star2d1r", Precision::fp32, dirichlet, true, 8, 0},
    {"star2d1r", Precision::fp64, periodic, true, 7, 0},
    {"star3d1r", Precision::fp32, periodic, true, 4, 0},
    {"box2d1r", Precision::fp32, dirichlet, false, 8, 100},
    {"box2d1r", Precision::tf32, neumann, true, 2, 0},
    {"box2d3r", Precision::fp64, dirichlet, false, 2, 0},
    {"box2d7r", Precision::fp32, periodic, false, 1, 0},
    {"star3d1r", Precision::fp32, dirichlet, false, 4, 112},
    {"star3d1r", Precision::fp32, neumann, false, 4, 76},
    {"star3d1r", Precision::fp64, neumann, false, 4, 80},
    {"star3d1r", Precision::fp64, periodic, false, 3, 0},
    {"box3d1r", Precision::fp32, dirichlet, false, 3, 52},
    {"box3d1r", Precision::fp16, neumann, true, 2, 64},
    {"box3d3r", Precision::fp32, dirichlet, false, 1, 160},
    {"random3d2r", Precision::fp32, neumann, false, 1, 0},
    {"random3d2r", Precision::fp64, neumann, false, 1, 64},
};

/// Runs on the number of a case in template_cases.
class Templates : public ::testing::TestWithParam<std::size_t> {};

/// Compiles every case for Hopper. Every third case is also compiled for Ampere, and every second of those
/// with several steps with whole vectors, because compiling takes seconds.
TEST_P(Templates, CompileForAmpereAndHopper) {
  const TemplateCase& c = template_cases[GetParam()];
  KernelStencil stencil = make(c);
  const Formats formats{c.precision, true, true};
  for (const auto& [is_hopper, whole_vectors] : {std::pair{false, false}, {true, false}, {true, true}}) {
    if (!is_hopper && GetParam() % 3 > 0) continue;
    if (whole_vectors && (!c.steps || GetParam() % 2 > 0)) continue;
    const KernelCompiler compiler(is_hopper ? "sm_90a" : "sm_80", {});
    const BlockLimits& limits = is_hopper ? hopper : ampere;
    stencil.wraps = wrapped_axes(stencil, stencil.grid(), c.precision, std::max(c.steps, 1), limits);
    std::optional<MarchTile> tile;
    if (c.steps) {
      tile = choose_march_tile(stencil, formats, c.steps, limits);
      ASSERT_TRUE(tile) << c.stencil;
      tile->whole_vectors = whole_vectors;
      tile->faces_between_lanes = {true, whole_vectors};
    }
    const std::string text = constants_text(stencil, formats, tile ? &*tile : nullptr);
    std::map<std::string, std::string> constants_of{
        {c.steps ? "kernels/cuda/scalar/march.cuh" : "kernels/cuda/scalar/step.cuh", text}};
    if (!c.steps && stencil.radius[row_axis] == 0) constants_of["kernels/cuda/scalar/steps.cuh"] = text;
    const auto single = choose_single_step(stencil, stencil.grid(), formats, limits).tile;
    if (single && !c.steps)
      std::visit(
          [&](const auto& of_kernel) {
            constants_of[std::string("kernels/cuda/scalar/") + of_kernel.kernel + ".cuh"] =
                constants_text(stencil, formats, of_kernel);
          },
          *single);
    for (const auto& [name, constants] : constants_of) {
      const Compiled compiled = compiler.compile_fresh(name, constants);
      EXPECT_FALSE(compiled.cubin.empty());
      const int registers = testing::max_before(compiled.log, " registers"),
                spilled = testing::max_spilled_bytes(compiled.log),
                stack = testing::max_before(compiled.log, " bytes stack frame");
      std::printf("%s %s %s %s t=%d: %d registers, %d bytes spilled\n", compiler.architecture().c_str(),
                  name.c_str(), c.stencil, std::string(to_string(c.precision)).c_str(), c.steps, registers,
                  spilled);
      ASSERT_GT(registers, 0) << compiled.log;
      ASSERT_GE(std::min(spilled, stack), 0) << compiled.log;
      if (is_hopper) {
        EXPECT_LE(std::max(spilled, stack), c.max_spill_bytes) << compiled.log;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Templates, ::testing::Range<std::size_t>(0, std::size(template_cases)),
                         [](const auto& test) {
                           const TemplateCase& c = template_cases[test.param];
                           return std::string(c.stencil) + "_" + std::string(to_string(c.precision)) + "_t" +
                                  std::to_string(c.steps) + "_n" + std::to_string(c.extent) + "_" +
                                  std::string(to_string(c.walls)) + (c.with_source ? "_source" : "");
                         });

TEST(MarchTile, TakesGridsThatHoldAMirrorImage) {
  const auto depth = [](BoundaryKind walls, std::int64_t extent) {
    return preferred_depth(make({"star3d2r", Precision::fp64, walls, false, 1, 0, extent}),
                           {Precision::fp64, true, true}, hopper);
  };
  EXPECT_EQ(depth(neumann, 1), 0);
  EXPECT_GT(depth(neumann, 2), 0);
  EXPECT_GT(depth(periodic, 1), 0);
}

TEST(MarchTile, GrowsColumnsToWholeVectorsWhereThereIsRoom) {
  using Columns = std::array<std::int64_t, 2>;
  constexpr bool field = false, scratch = true, inside = false, at_wall = true;
  const Formats fp64{Precision::fp64}, fp32{Precision::fp32}, fp16{Precision::fp16};
  MarchTile tile;
  tile.column_margin = 8;
  EXPECT_EQ(in_whole_vectors({-3, 101}, tile, fp32, scratch, inside), (Columns{-4, 104}));
  EXPECT_EQ(in_whole_vectors({-3, 101}, tile, fp16, scratch, inside), (Columns{-4, 104}));
  EXPECT_EQ(in_whole_vectors({0, 101}, tile, fp32, field, at_wall), (Columns{0, 104}));
  EXPECT_EQ(in_whole_vectors({0, 101}, tile, fp32, field, inside), (Columns{0, 101})) << "others write there";
  EXPECT_EQ(in_whole_vectors({0, 101}, tile, fp16, field, at_wall), (Columns{0, 101})) << "left out";
  EXPECT_EQ(in_whole_vectors({2, 102}, tile, fp32, field, at_wall), (Columns{2, 102}))
      << "it begins within one";
  tile.column_margin = tile.points_per_lane = 16;
  EXPECT_EQ(in_whole_vectors({0, 1000}, tile, fp32, field, at_wall), (Columns{0, 1008}));
  EXPECT_EQ(in_whole_vectors({0, 1000}, tile, fp64, field, at_wall), (Columns{0, 1000})) << "128 bytes";
  EXPECT_EQ(in_whole_vectors({0, 1000}, tile, fp64, scratch, at_wall), (Columns{0, 1008}));
  tile.column_margin = 8;
  EXPECT_EQ(in_whole_vectors({0, 1000}, tile, fp32, scratch, at_wall), (Columns{0, 1000})) << "of no use";
}

// Tiles in shared memory take boxes of more taps, and stars of farther taps, than a march can. With few or
// too many taps, one thread per point is chosen.
TEST(SingleStepTile, TakesBoxesOfManyTapsAndStarsOfFarOnes) {
  const std::string box = BoxStepTile::kernel, star = StarStepTile::kernel, none;
  for (const auto& [name, precision, extent, kernel] :
       {std::tuple{"random3d3r", Precision::fp32, 320, box},
        {"random3d3r", Precision::fp64, 320, box},
        {"box3d4r", Precision::fp32, 320, box},
        {"random2d10r", Precision::bf16, 5600, box},
        {"box2d9r", Precision::fp32, 5600, box},
        {"random3d20r", Precision::fp64, 320, none},   // too much shared memory
        {"random2d25r", Precision::fp32, 5600, none},  // too many registers
        {"star3d8r", Precision::fp32, 320, star},
        {"star3d4r", Precision::fp64, 320, star},
        {"star2d9r", Precision::fp32, 5600, star},
        {"star3d40r", Precision::fp32, 320, none},  // too many registers
        {"box3d2r", Precision::fp32, 320, none},    // a march folds it
        {"1d40r", Precision::fp32, 100000, none}}) {
    const KernelStencil stencil = make({name, precision, BoundaryKind::neumann, false, 0, 0, extent});
    const auto single = choose_single_step(stencil, stencil.grid(), {precision, true, true}, hopper).tile;
    ASSERT_EQ(single ? std::visit([](const auto& tile) { return tile.kernel; }, *single) : none, kernel)
        << name;
    const auto* const tile = single ? std::get_if<BoxStepTile>(&*single) : nullptr;
    if (!tile) continue;
    // The eight lanes that read 16 bytes together use different banks.
    const int lanes_x = tile->lanes_x, pitch = tile->pitch * Formats{precision}.compute_bytes() / 16;
    std::set<int> banks;
    for (int lane = 0; lane < 8; ++lane) banks.insert((lane % lanes_x * 5 + lane / lanes_x * 2 * pitch) % 8);
    EXPECT_EQ(banks.size(), 8u) << name << ", " << lanes_x << " lanes";
  }
}

// Single steps can wrap indices at the ends of axes. Launches of several steps need periodic copies, and so
// do rows of broken vectors and axes of which a block has a part.
TEST(SingleStepTile, FindsPointsBeyondTheEndsOfWholeAxes) {
  using Axes = std::array<bool, 3>;
  const auto wraps = [](const char* stencil, BoundaryKind walls, std::int64_t extent, int steps) {
    const KernelStencil made = make({stencil, Precision::fp32, walls, false, 0, 0, extent});
    return wrapped_axes(made, made.grid(), Precision::fp32, steps, hopper);
  };
  EXPECT_EQ(wraps("star3d6r", periodic, 240, 1), (Axes{true, true, true}));
  EXPECT_EQ(wraps("random3d4r", periodic, 240, 1), (Axes{true, true, true}));
  EXPECT_EQ(wraps("star3d6r", periodic, 240, 2), Axes{});
  EXPECT_EQ(wraps("star3d6r", periodic, 241, 1), (Axes{true, true, false}));
  EXPECT_EQ(wraps("star3d6r", neumann, 240, 1), Axes{});
  EXPECT_EQ(wraps("star2d12r", periodic, 1000, 1), (Axes{true, false, true})) << "axes of kernels";

  const auto repeat_in = [](std::array<std::int64_t, 3> shape, const Region& block) {
    KernelStencil made = make({"random3d3r", Precision::fp32, periodic, false, 0, 0, 240});
    made.shape = shape;
    return wrapped_axes(made, block, Precision::fp32, 1, hopper);
  };
  EXPECT_EQ(repeat_in({640, 640, 240}, {{}, {640, 320, 240}}), (Axes{true, false, true}));
  EXPECT_EQ(repeat_in({240, 240, 240}, {{}, {8, 8, 240}}), Axes{}) << "one thread per point is faster";
  // Threads read up to a radius beyond an end; in rows 16 bytes more.
  EXPECT_EQ(repeat_in({640, 640, 8}, {{}, {640, 640, 8}}), (Axes{true, true, true}));
  EXPECT_EQ(repeat_in({640, 640, 4}, {{}, {640, 640, 4}}), (Axes{true, true, false}));
  EXPECT_EQ(repeat_in({3, 640, 640}, {{}, {3, 640, 640}}), (Axes{true, true, true}));
  EXPECT_EQ(repeat_in({2, 640, 640}, {{}, {2, 640, 640}}), (Axes{false, true, true}));
}

// On thin grids between walls steps.cuh is faster for a single step. It must not be chosen where axes repeat,
// since it reads periodic copies.
TEST(SingleStepTile, LeavesNoAxisThatRepeatsToKernelsThatReadImages) {
  KernelStencil stencil = make({"random2d3r", Precision::fp32, BoundaryKind::neumann, false, 0, 0, 200000});
  stencil.shape[column_axis] = 2;
  stencil.walls[plane_axis] = {};
  const auto choose = [&] {
    return choose_faster_small_grid_tile(stencil, stencil.grid(), 1, {Precision::fp32, true, true}, hopper);
  };
  EXPECT_TRUE(choose());
  stencil.wraps = wrapped_axes(stencil, stencil.grid(), Precision::fp32, 1, hopper);
  EXPECT_EQ(stencil.wraps, (std::array{true, false, false}));
  EXPECT_FALSE(choose());
}

// Points beside walls, wherever a region lies, and points beside the ends of axes that repeat take both
// branches of step.cuh.
TEST(PointStepCycles, ChargeRegionsByWhereTheyLie) {
  const auto cycles = [](const KernelStencil& stencil, const Region& region) {
    return point_step_cycles(stencil, region, {Precision::fp32, true, true}, hopper);
  };
  const KernelStencil walls = make({"star3d6r", Precision::fp32, BoundaryKind::dirichlet, false, 0, 0, 320});
  const Region low{{0, 64, 64}, {6, 256, 256}}, high{{314, 64, 64}, {320, 256, 256}},
      inside{{157, 64, 64}, {163, 256, 256}};
  EXPECT_EQ(cycles(walls, low), cycles(walls, high));
  EXPECT_GT(cycles(walls, low), 1.5 * cycles(walls, inside));

  KernelStencil torus = make({"star3d6r", Precision::fp32, BoundaryKind::periodic, false, 0, 0, 320});
  EXPECT_EQ(cycles(torus, low), cycles(walls, inside));
  torus.wraps[plane_axis] = true;
  EXPECT_EQ(cycles(torus, low), cycles(torus, high));
  EXPECT_GT(cycles(torus, low), 1.5 * cycles(torus, inside));
}

// The plan asks for bands beside walls, which some ranks do not have.
TEST(SingleStepTile, TakesNoEmptyRegions) {
  for (const char* name : {"star3d6r", "random3d3r"}) {
    const KernelStencil stencil = make({name, Precision::fp64, BoundaryKind::neumann, false, 0, 0, 320});
    for (int axis = 0; axis < axis_count; ++axis) {
      Region region{{0, 0, 0}, {320, 320, 320}};
      ASSERT_TRUE(choose_single_step(stencil, region, {Precision::fp64, true, true}, hopper).tile) << name;
      region.end[axis] = 0;
      EXPECT_FALSE(choose_single_step(stencil, region, {Precision::fp64, true, true}, hopper).tile) << name;
    }
  }
}

TEST(SingleStepTile, TakesTheShapesOfTests) {
  const auto tile_of = [](const testing::ShapeCase& c) {
    const testing::RandomCase problem = testing::make_problem(c);
    const KernelStencil stencil(problem.domain, problem.stencil, c.precision, true);
    EXPECT_EQ(preferred_depth(stencil, {c.precision, true, true}, hopper), 0) << c.name;
    return choose_single_step(stencil, stencil.grid(), {c.precision, true, true}, hopper).tile.value();
  };
  std::set<int> planes;
  for (const testing::ShapeCase& c : testing::box_shapes)
    planes.insert(std::get<BoxStepTile>(tile_of(c)).planes);
  EXPECT_EQ(planes, (std::set{1, 2}));
  for (const testing::ShapeCase& c : testing::star_shapes)
    EXPECT_TRUE(std::holds_alternative<StarStepTile>(tile_of(c))) << c.name;
}

// A block holds `steps` radii beyond its results on either side, but only one radius beyond a wall.
TEST(SmallGridTile, CoversSlabsBesideWalls) {
  for (const auto& [name, steps, fits] : {std::tuple{"star2d1r", 9, true},
                                          {"box2d3r", 4, true},
                                          {"box2d3r", 21, false},
                                          {"1d1r", 9, false},
                                          {"star3d1r", 4, false}}) {
    const KernelStencil stencil = make({name, Precision::fp64, BoundaryKind::neumann, false, 0, 0, 301});
    Region slab = stencil.grid();
    slab.end[plane_axis] = steps * stencil.radius[plane_axis];
    const auto tile = choose_small_grid_tile(stencil, slab, steps, 8, hopper);
    ASSERT_EQ(tile.has_value(), fits) << name;
    if (!fits) continue;
    const std::int64_t radius = stencil.radius[plane_axis];
    EXPECT_LE(tile->columns + 2 * steps * radius, tile->stride) << name;
    EXPECT_GE(tile->shared_bytes, static_cast<std::size_t>(2 * 8 * tile->stride) *
                                      (tile->planes + std::min<std::int64_t>(2 * steps, steps + 1) * radius))
        << name;
    EXPECT_LE(tile->shared_bytes, hopper.shared_bytes) << name;
    EXPECT_GE(tile->column_tiles * tile->columns, slab.end[column_axis]) << name;
    EXPECT_LT((tile->column_tiles - 1) * tile->columns, slab.end[column_axis]) << name;
    EXPECT_GE(tile->plane_tiles * tile->planes, slab.end[plane_axis]) << name;
    EXPECT_LT((tile->plane_tiles - 1) * tile->planes, slab.end[plane_axis]) << name;
  }
}

TEST(SmallGridTile, AreNoMoreThanALaunchHasBlocksAcross) {
  const KernelStencil stencil = make({"star2d1r", Precision::fp32, BoundaryKind::periodic, false, 0, 0, 301});
  for (const int steps : {4, 8, 12}) {
    const auto tile = choose_small_grid_tile(stencil, {{0, 0, 0}, {1 << 24, 1, 8}}, steps, 4, hopper);
    EXPECT_FALSE(tile && tile->plane_tiles > max_blocks_across) << steps;
  }
}

TEST(Reductions, CompileForAmpereAndHopperWithoutSpills) {
  for (const char* architecture : {"sm_80", "sm_90a"})
    EXPECT_FALSE(KernelCompiler(architecture, {})
                     .compile_fresh("kernels/cuda/transfer/peer_max.cuh", {})
                     .cubin.empty());
  for (const Precision precision : all_precisions)
    for (const char* architecture : {"sm_80", "sm_90a"}) {
      const Precision kept = precision == Precision::fp64 ? Precision::fp32 : precision;
      const Compiled compiled =
          KernelCompiler(architecture, {})
              .compile_fresh("kernels/cuda/transfer/reduce.cuh", reduce_constants(precision, {3, kept}));
      EXPECT_FALSE(compiled.cubin.empty());
      EXPECT_EQ(testing::max_spilled_bytes(compiled.log), 0) << compiled.log;
    }
}

/// Expects that a march takes no longer than waves of whole tiles, and no less than all of them spread
/// evenly. Returns the time, in planes.
std::int64_t expect_time_between_bounds(const MarchShares& shares, std::int64_t planes, std::int64_t tiles,
                                        std::int64_t resident, std::int64_t warm_up) {
  const std::int64_t time = march_time(shares, resident, warm_up).planes;
  EXPECT_GE(time * resident, tiles * (planes + warm_up));
  EXPECT_LE(time, ceil_div(tiles, resident) * (planes + warm_up));
  return time;
}

TEST(MarchShares, TakeNoLongerThanWavesOfEqualStretchesNorLessThanAllTogether) {
  constexpr std::int64_t resident = 132, warm_up = 10;
  for (std::int64_t tiles = 1; tiles < 600; tiles += 7)
    for (const std::int64_t planes : {1, 4, 57, 128, 320, 400}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles of " + std::to_string(planes) + " planes");
      const MarchShares shares = share_march(planes, tiles, resident, warm_up);
      const auto time = expect_time_between_bounds(shares, planes, tiles, resident, warm_up);
      if (tiles <= resident) {
        EXPECT_LE(time, ceil_div(planes, std::min(planes, resident / tiles)) + warm_up);
      }
      // The stretches of a piece that is cut cover all its planes.
      if (shares.shared() > 0) {
        EXPECT_GE(shares.stretches * shares.length + shares.short_stretches * shares.short_length,
                  shares.planes);
      }
      EXPECT_EQ(shares.pieces, tiles * ceil_div(planes, std::int64_t{shares.planes}));
    }
}

TEST(MarchShares, OfPacedMarchesCoverAllPlanesOnceAndLetAGroupHaveEqualOnes) {
  constexpr std::int64_t resident = 132, warm_up = 10;
  for (std::int64_t tiles = 1; tiles < 600; tiles += 7)
    for (const std::int64_t planes : {1, 4, 57, 128, 400, 768}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles of " + std::to_string(planes) + " planes");
      const MarchShares shares = share_paced_march(planes, tiles, resident, warm_up);
      expect_time_between_bounds(shares, planes, tiles, resident, warm_up);
      const Region region{{5, 0, 0}, {5 + planes, 1, 1}};
      std::vector<int> covered(static_cast<std::size_t>(tiles * planes));
      std::map<int, int> planes_of_group;
      for (int block = 0; block < shares.blocks(); ++block) {
        const TilePlanes part = tile_planes(shares, region, block);
        ASSERT_LT(part.begin, part.end);
        EXPECT_LE(part.end - part.begin, shares.longest());
        for (int plane = part.begin; plane < part.end; ++plane)
          ++covered.at(static_cast<std::size_t>(part.tile * planes + plane - 5));
        EXPECT_EQ(planes_of_group.emplace(part.group, part.end - part.begin).first->second,
                  part.end - part.begin);
      }
      EXPECT_EQ(std::ranges::count(covered, 1), tiles * planes);
    }
  // Two waves of whole tiles, and a third of tiles that are cut: equal stretches of all tiles need 1917.
  EXPECT_EQ(march_time(share_paced_march(768, 288, 132, 21), 132, 21).planes, 1753);
}

// According to the cost model, blocks beside walls take no longer than others.
TEST(MarchStretches, EndTogether) {
  constexpr std::int64_t resident = 1056, schedulers = 528;
  for (const std::int64_t tiles : {1, 2, 3, 21, 107})
    for (const std::int64_t planes : {1, 2, 7, 97, 2000, 10240})
      for (const bool low : {false, true})
        for (const WallCost cost : {WallCost{}, WallCost{0.5, 0.4}, WallCost{1.0, 0.6}}) {
          SCOPED_TRACE(std::to_string(tiles) + " tiles of " + std::to_string(planes) + " planes");
          const std::array<bool, 2> outer{low && tiles > 1, tiles > 1};
          constexpr std::int64_t halo = 8, warm_up = 12;
          const MarchStretches s =
              stretch_march({planes, tiles, outer, halo, warm_up, resident, schedulers, cost});
          for (const auto& [number, fewer] : {std::pair(s.of_outer.number, s.of_outer.fewer),
                                              std::pair(s.of_others.number, s.of_others.fewer)}) {
            ASSERT_GE(number, 1);
            EXPECT_LE(number, planes);
            EXPECT_GE(fewer, 0);
            if (fewer > 0) {
              EXPECT_GE((planes + 2 * fewer) / number - fewer, halo) << "the next is beside the wall, too";
            }
          }
          const auto time = [&](std::int64_t number) { return ceil_div(planes, number) + warm_up; };
          if (planes >= 2000 && tiles > 20) {
            EXPECT_LE((1 + cost.columns) * static_cast<double>(time(s.of_outer.number)),
                      static_cast<double>(time(s.of_others.number)));
          }
        }
}

// Every row is written once, by a tile that holds everything within its reach. Beside walls, tiles end with
// the grid, and the walls lie between two warps.
TEST(RowTiles, WriteAllRowsOnce) {
  constexpr int held = 48, of_warp = 4;
  for (const bool walls : {false, true})
    for (const int margin : {0, 1, 4, 7})
      for (const std::int64_t rows : {1, 5, 47, 48, 49, 52, 88, 97, 1000})
        for (const std::int64_t begin : {std::int64_t{0}, std::int64_t{3}, rows / 2, rows - 2})
          for (const std::int64_t end : {rows, rows - 1, rows - 6, begin + 1}) {
            if (begin < 0 || begin >= end || end > rows) continue;
            SCOPED_TRACE(std::to_string(begin) + " to " + std::to_string(end) + " of " +
                         std::to_string(rows) + " rows, margin " + std::to_string(margin) +
                         (walls ? ", walls" : ""));
            const RowTiles tiles{begin, end, rows, held, margin, walls};
            // Rows are clamped to the grid between walls, else they reach into periodic copies.
            const auto reach = [&](std::int64_t row) {
              return walls ? std::clamp<std::int64_t>(row, 0, rows) : row;
            };
            for (std::int64_t k = 0; k < tiles.count(); ++k) {
              EXPECT_EQ(tiles.begin_row(k), k == 0 ? begin : tiles.end_row(k - 1));
              EXPECT_LT(tiles.begin_row(k), tiles.end_row(k));
              EXPECT_GE(reach(tiles.begin_row(k) - margin), tiles.first_row(k));
              EXPECT_LE(reach(tiles.end_row(k) + margin), tiles.first_row(k) + held);
              if (!walls) continue;
              EXPECT_GE(tiles.first_row(k), 0);
              if (rows < held) continue;
              EXPECT_LE(tiles.first_row(k) + held, rows);
              if (tiles.first_row(k) + held == rows) {
                EXPECT_EQ((rows - tiles.first_row(k)) % of_warp, 0);
              }
            }
            EXPECT_EQ(tiles.end_row(tiles.count() - 1), end);
          }
}

// A last tile narrower than a halo would leave the tile before it beside the wall as well.
TEST(MarchTile, OnlyTheOuterOnesReachBeyondWalls) {
  MarchTile tile;
  tile.points_per_lane = 4;
  tile.column_margin = 16;
  const std::int64_t written = tile.written_columns();
  for (std::int64_t columns = written + 1; columns < 5 * written; ++columns) {
    SCOPED_TRACE(columns);
    ScalarArguments a{};
    a.shape[column_axis] = a.region.end[column_axis] = columns;
    place_column_tiles(a, tile, 0);
    keep_tiles_from_walls(a, tile);
    EXPECT_EQ(a.first_column % max_points_per_lane, 0);
    EXPECT_LE(a.first_column + tile.column_margin, 0) << "the first columns are written";
    EXPECT_GE(a.first_column + tile.column_margin + a.column_tiles * written, columns) << "and the last";
    EXPECT_EQ(outer_tiles(a, tile), (std::array{true, true}));
    const auto begin = [&](int k) { return a.first_column + k * written; };
    if (a.column_tiles > 2) {
      EXPECT_GE(begin(1), 0);
      EXPECT_LE(begin(a.column_tiles - 2) + tile.columns(), columns);
    }
    // Only one side is a wall: the other end of the region lies inside the grid.
    a.shape[column_axis] = columns + 200;
    EXPECT_EQ(outer_tiles(a, tile), (std::array{true, false}));
  }
}

TEST(KernelCompiler, RemembersKernelsAndMendsDamagedFiles) {
  const auto cache =
      std::filesystem::path(::testing::TempDir()) / ("spsolve_cache_" + std::to_string(getpid()));
  std::filesystem::remove_all(cache);
  const TemplateCase c{"1d1r", Precision::fp32, periodic, false, 0, 0};
  const std::string constants = constants_text(make(c), {c.precision, true, true}, nullptr);
  const KernelCompiler compiler("sm_80", cache);
  const auto first = compiler.compile("kernels/cuda/scalar/step.cuh", constants);
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(cache)) files.push_back(file.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(compiler.compile("kernels/cuda/scalar/step.cuh", constants), first);

  {
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('x');
    file.seekp(101);
    file.put('y');
  }
  EXPECT_EQ(compiler.compile("kernels/cuda/scalar/step.cuh", constants), first);

  // Other constants and other architectures have other files.
  compiler.compile("kernels/cuda/scalar/step.cuh", constants + "\n");
  KernelCompiler("sm_90a", cache).compile("kernels/cuda/scalar/step.cuh", constants);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), 3);

  // The content of a complete file is used as it is.
  const auto other =
      KernelCompiler("sm_90a", cache / "other").compile("kernels/cuda/scalar/step.cuh", constants);
  EXPECT_NE(other, first);
  std::filesystem::copy_file(std::filesystem::directory_iterator(cache / "other")->path(), files[0],
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(compiler.compile("kernels/cuda/scalar/step.cuh", constants), other);
  std::filesystem::remove_all(cache);
}

TEST(KernelCompiler, ManyProcessesAndThreadsMayStartAtOnce) {
  const auto cache =
      std::filesystem::path(::testing::TempDir()) / ("spsolve_shared_cache_" + std::to_string(getpid()));
  std::filesystem::remove_all(cache);
  const TemplateCase c{"1d1r", Precision::fp32, periodic, false, 0, 0};
  const std::string constants = constants_text(make(c), {c.precision, true, true}, nullptr);
  std::vector<pid_t> processes;
  for (int i = 0; i < 4; ++i) {
    const pid_t process = fork();
    if (process == 0) {
      const KernelCompiler compiler("sm_80", cache);
      const Code one = compiler.begin("kernels/cuda/scalar/step.cuh", constants),
                 other = compiler.begin("kernels/cuda/scalar/step.cuh", constants);
      _exit(one.get().empty() || other.get() != one.get());
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = -1;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), 1) << "or a part was left";
  EXPECT_EQ(KernelCompiler("sm_80", cache).compile("kernels/cuda/scalar/step.cuh", constants),
            KernelCompiler("sm_80", {}).compile("kernels/cuda/scalar/step.cuh", constants));
  std::filesystem::remove_all(cache);
}

TEST(KernelCompiler, WorksWhereNoCacheCanBeWritten) {
  const TemplateCase c{"1d1r", Precision::fp32, periodic, false, 0, 0};
  const std::string constants = constants_text(make(c), {c.precision, true, true}, nullptr);
  EXPECT_FALSE(KernelCompiler("sm_80", "/dev/null/spsolve")
                   .compile("kernels/cuda/scalar/step.cuh", constants)
                   .empty());
}

TEST(KernelCompiler, SaysWhatDoesNotCompileWhereItIsNeeded) {
  const Code code = KernelCompiler("sm_80", {}).begin("kernels/cuda/scalar/step.cuh", "this is no C++");
  try {
    code.get();
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::device_failure);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("constants.cuh"));
  }
}

}  // namespace
}  // namespace spsolve::cuda
