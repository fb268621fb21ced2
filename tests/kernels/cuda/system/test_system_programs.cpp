// SPDX-License-Identifier: Apache-2.0
// The kernels of the example systems compile by NVRTC, and marches keep their values in registers. No GPU is
// needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/system/system_program.hpp"
#include "kernels/error.hpp"
#include "tests/kernels/cuda/compile_log.hpp"
#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::cuda {
namespace {

constexpr BlockLimits ampere{80, 163 << 10, 108}, hopper{};

struct Target {
  const char* architecture;
  BlockLimits limits;
};

class SystemPrograms : public ::testing::TestWithParam<std::size_t> {};

/// Every group of statements, with walls of all kinds, on both architectures that are built for.
TEST_P(SystemPrograms, Compile) {
  const testing::ExampleStep example = testing::example_steps()[GetParam()];
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const testing::RandomProblem problem(example, random);
  const Canonical canonical = canonical_form(testing::system_of(example));
  for (const Target& target : {Target{"sm_90a", hopper}, Target{"sm_80", ampere}}) {
    const KernelCompiler compiler(target.architecture, "");
    auto groups = facts_of(canonical).groups;
    // All groups as one, as marches take them.
    if (groups.size() > 1) groups.emplace_back(0, static_cast<int>(canonical.equations.size()));
    for (const auto& [first, last] : groups)
      for (const Precision precision : {Precision::fp32, Precision::fp64}) {
        const SystemProgram program(canonical, problem.surroundings.fields, first, last, precision);
        EXPECT_NO_THROW(
            compiler.compile_fresh("kernels/cuda/system/point_group.cuh", program.point_constants()));
        const auto tile = program.tile(target.limits);
        ASSERT_EQ(tile.has_value(), example.names.dimensions > 1);
        if (!tile) continue;
        const Compiled march = compiler.compile_fresh("kernels/cuda/system/march_group.cuh",
                                                      program.march_constants(*tile, target.limits));
        // Tiles were measured on sm_90 only; on sm_80 the largest groups spill more. Elastic waves, the
        // largest step, spill seven registers.
        if (target.limits.copy_engine())
          EXPECT_LE(testing::most_spilled_bytes(march.log), 7 * 4)
              << example.name << " in " << to_string(precision) << "\n"
              << march.log;
      }
  }
}

TEST(WallPrograms, Compile) {
  for (const char* architecture : {"sm_90a", "sm_80"}) {
    const Compiled walls =
        KernelCompiler(architecture, "").compile_fresh("kernels/cuda/system/fill_walls.cuh", "");
    EXPECT_EQ(testing::most_spilled_bytes(walls.log), 0) << walls.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, SystemPrograms,
                         ::testing::Range<std::size_t>(0, testing::example_steps().size()),
                         [](const auto& param) {
                           std::string name = testing::example_steps()[param.param].name;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace spsolve::cuda
