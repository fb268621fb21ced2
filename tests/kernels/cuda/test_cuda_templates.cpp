// SPDX-License-Identifier: Apache-2.0
// Compiles the kernel templates by NVRTC; needs no GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "kernels/cuda/program.hpp"
#include "kernels/cuda/reducer.hpp"
#include "kernels/cuda/tile.hpp"
#include "kernels/error.hpp"
#include "kernels/presets.hpp"

namespace spsolve::cuda {
namespace {

constexpr BlockLimits ampere{80, 163 << 10, 108}, hopper_limits{};

struct TemplateCase {
  const char* stencil;
  Precision precision;
  BoundaryKind walls;
  bool with_source;
  int steps;                    // of march.cuh; 0: step.cuh and steps.cuh
  int most_spill_bytes;         // sm_90a; what was accepted when the tiles were chosen
  std::int64_t extent = 10000;  // of the grid on every axis: tiles of large ones are wider in 2D
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

class Templates : public ::testing::TestWithParam<TemplateCase> {};

TEST_P(Templates, CompileForAmpereAndHopper) {
  const TemplateCase& c = GetParam();
  const KernelStencil stencil = make(c);
  const Formats formats{c.precision, true, true};
  for (const bool hopper : {false, true}) {
    const KernelCompiler compiler(hopper ? "sm_90a" : "sm_80", {});
    std::optional<Tile> tile;
    if (c.steps) {
      tile = choose_tile(stencil, formats, c.steps, hopper ? hopper_limits : ampere);
      ASSERT_TRUE(tile) << c.stencil;
    }
    const std::string constants = constants_text(stencil, formats, tile ? &*tile : nullptr);
    for (const char* name : c.steps ? std::vector{"march.cuh"} : std::vector{"step.cuh", "steps.cuh"}) {
      const Compiled compiled = compiler.compile_fresh(name, constants);
      EXPECT_FALSE(compiled.cubin.empty());
      std::smatch used;
      ASSERT_TRUE(std::regex_search(compiled.log, used, std::regex("Used (\\d+) registers"))) << compiled.log;
      std::smatch spilled;
      ASSERT_TRUE(std::regex_search(compiled.log, spilled, std::regex("(\\d+) bytes spill stores")))
          << compiled.log;
      std::printf("%s %s %s %s t=%d: %s registers, %s bytes spilled\n", compiler.architecture().c_str(), name,
                  c.stencil, std::string(to_string(c.precision)).c_str(), c.steps, used[1].str().c_str(),
                  spilled[1].str().c_str());
      if (hopper) {
        EXPECT_LE(std::stoi(spilled[1]), c.most_spill_bytes) << compiled.log;
      }
    }
  }
}

constexpr auto dirichlet = BoundaryKind::dirichlet;
constexpr auto neumann = BoundaryKind::neumann;
constexpr auto periodic = BoundaryKind::periodic;

INSTANTIATE_TEST_SUITE_P(
    Table, Templates,
    ::testing::Values(TemplateCase{"star2d3r", Precision::fp16, neumann, true, 0, 0},
                      TemplateCase{"box3d3r", Precision::fp64, dirichlet, false, 0, 8},
                      TemplateCase{"1d1r", Precision::fp64, dirichlet, false, 8, 0},
                      TemplateCase{"1d2r", Precision::bf16, neumann, true, 3, 16},
                      TemplateCase{"star2d1r", Precision::fp32, periodic, false, 8, 0},
                      TemplateCase{"star2d1r", Precision::fp32, dirichlet, false, 8, 0, 100},
                      TemplateCase{"star2d1r", Precision::fp64, dirichlet, false, 8, 0},
                      TemplateCase{"box2d1r", Precision::fp32, dirichlet, false, 8, 0},
                      TemplateCase{"box2d1r", Precision::tf32, neumann, true, 2, 0},
                      TemplateCase{"box2d3r", Precision::fp64, dirichlet, false, 2, 0},
                      TemplateCase{"box2d7r", Precision::fp32, periodic, false, 1, 0},
                      TemplateCase{"star3d1r", Precision::fp32, dirichlet, false, 4, 256},
                      TemplateCase{"star3d1r", Precision::fp64, periodic, false, 3, 64},
                      TemplateCase{"box3d1r", Precision::fp32, dirichlet, false, 3, 64},
                      TemplateCase{"box3d1r", Precision::fp16, neumann, true, 2, 512}),
    [](const auto& test) {
      return std::string(test.param.stencil) + "_" + std::string(to_string(test.param.precision)) + "_t" +
             std::to_string(test.param.steps) + "_n" + std::to_string(test.param.extent);
    });

TEST(Reductions, CompileForAmpereAndHopperWithoutSpills) {
  for (const Precision precision :
       {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16})
    for (const char* architecture : {"sm_80", "sm_90a"}) {
      const Precision kept = precision == Precision::fp64 ? Precision::fp32 : precision;
      const Compiled compiled = KernelCompiler(architecture, {})
                                    .compile_fresh("reduce.cuh", reduce_constants(precision, {3, kept}));
      EXPECT_FALSE(compiled.cubin.empty());
      EXPECT_FALSE(std::regex_search(compiled.log, std::regex("[1-9]\\d* bytes spill"))) << compiled.log;
    }
}

TEST(KernelCompiler, RemembersKernelsAndMendsDamagedFiles) {
  const auto cache =
      std::filesystem::path(::testing::TempDir()) / ("spsolve_cache_" + std::to_string(getpid()));
  std::filesystem::remove_all(cache);
  const TemplateCase c{"1d1r", Precision::fp32, periodic, false, 0, 0};
  const std::string constants = constants_text(make(c), {c.precision, true, true}, nullptr);
  const KernelCompiler compiler("sm_80", cache);
  const auto first = compiler.compile("step.cuh", constants);
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(cache)) files.push_back(file.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(compiler.compile("step.cuh", constants), first);

  {
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('x');
    file.seekp(101);
    file.put('y');
  }
  EXPECT_EQ(compiler.compile("step.cuh", constants), first);

  // Other constants and other architectures are other files.
  compiler.compile("step.cuh", constants + "\n");
  KernelCompiler("sm_90a", cache).compile("step.cuh", constants);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), 3);
  std::filesystem::remove_all(cache);
}

TEST(KernelCompiler, WorksWhereNoCacheCanBeWritten) {
  const TemplateCase c{"1d1r", Precision::fp32, periodic, false, 0, 0};
  const std::string constants = constants_text(make(c), {c.precision, true, true}, nullptr);
  EXPECT_FALSE(KernelCompiler("sm_80", "/dev/null/spsolve").compile("step.cuh", constants).empty());
}

TEST(KernelCompiler, SaysWhatDoesNotCompile) {
  try {
    KernelCompiler("sm_80", {}).compile("step.cuh", "this is no C++");
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::device_failure);
    EXPECT_NE(std::string(error.what()).find("constants.cuh"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace spsolve::cuda
