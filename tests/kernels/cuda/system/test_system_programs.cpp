// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of the example systems by NVRTC, and checks that marches keep their values in
// registers, and which values they keep from plane to plane. No GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/cuda/system/system_program.hpp"
#include "kernels/error.hpp"
#include "tests/kernels/cuda/compile_log.hpp"
#include "tests/kernels/cuda/device_limits.hpp"
#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::cuda {
namespace {

using testing::ampere, testing::hopper;

struct Target {
  const char* architecture;
  BlockLimits limits;
};

class SystemPrograms : public ::testing::TestWithParam<std::size_t> {};

/// Compiles marches of every group of statements, of all groups as one and of several steps, and kernels of
/// points, with walls of all kinds. For sm_90a marches are compiled in both precisions; kernels of points and
/// of several steps in one, the latter with work on points for every second example. For sm_80 every third
/// example has its kernels of points compiled, the next its marches, and the next its march of several steps.
TEST_P(SystemPrograms, Compile) {
  const testing::ExampleStep example = testing::example_steps()[GetParam()];
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const testing::RandomProblem problem(example, random);
  const std::vector<Domain>& fields = problem.context.fields;
  const Canonical canonical = canonical_form(testing::system_of(example));
  const SystemFacts facts = facts_of(canonical);
  const auto all = std::pair{0, static_cast<int>(canonical.equations.size())};
  const bool is_even = GetParam() % 2 == 0;
  const Precision first_precision = is_even ? Precision::fp32 : Precision::fp64,
                  second_precision = is_even ? Precision::fp64 : Precision::fp32;
  int fused = 0;
  for (const Target& target : {Target{"sm_90a", hopper}, Target{"sm_80", ampere}}) {
    const bool is_hopper = target.limits.copy_engine();
    enum Kernel : std::size_t { of_points, of_march, of_several_steps };
    const auto is_compiled = [&](Kernel kernel) { return is_hopper || GetParam() % 3 == kernel; };
    const KernelCompiler compiler(target.architecture, "");
    const auto march_of = [&](const std::pair<int, int>& group, Precision precision) {
      const auto program =
          required(SystemProgram::make(canonical, fields, group.first, group.second, precision));
      const auto tile = program.tile(target.limits);
      ASSERT_EQ(tile.has_value(), example.names.dimensions > 1);
      if (!tile) return;
      const Compiled march = compiler.compile_fresh("kernels/cuda/system/march_group.cuh",
                                                    program.march_constants(*tile, target.limits));
      // Tiles were measured on sm_90 only; on sm_80 the largest groups spill more. Elastic waves, the largest
      // step, spill seven registers.
      if (is_hopper) {
        EXPECT_LE(testing::max_spilled_bytes(march.log), 7 * 4)
            << example.name << " in " << to_string(precision) << "\n"
            << march.log;
      }
    };
    for (const auto& group : facts.groups) {
      const Precision precision = is_hopper ? first_precision : second_precision;
      if (is_compiled(of_points)) {
        EXPECT_NO_THROW(compiler.compile_fresh(
            "kernels/cuda/system/point_group.cuh",
            required(SystemProgram::make(canonical, fields, group.first, group.second, precision))
                .point_constants()));
      }
      if (is_compiled(of_march)) march_of(group, first_precision);
      if (is_hopper) march_of(group, second_precision);
    }
    if (facts.groups.size() > 1 && is_compiled(of_march))
      march_of(all, is_hopper ? first_precision : second_precision);
    if (!is_compiled(of_several_steps)) continue;
    // The grid of the problem may be thinner than the reach of a step.
    std::vector<Domain> large = fields;
    for (Domain& field : large)
      for (int axis = field.first_axis(); axis < axis_count; ++axis) field.shape[axis] += 100;
    auto made = fused_tile(canonical, facts, large, first_precision, 2, target.limits);
    if (auto* const tile = std::get_if<FusedTile>(&made)) {
      tile->has_points = is_hopper == is_even;
      const auto program =
          required(SystemProgram::make(canonical, large, all.first, all.second, first_precision));
      EXPECT_NO_THROW(compiler.compile_fresh("kernels/cuda/system/march_steps.cuh",
                                             program.fused_constants(*tile, target.limits)));
      ++fused;
    }
  }
  RecordProperty("kernels_of_two_steps", fused);
}

/// Returns the group of a step in three dimensions, of fields between dirichlet walls, or why it has none.
OrNoKernel<SystemGroup> made_in_3d(std::vector<std::string> fields, std::vector<std::string> coefficients,
                                   const std::string& step) {
  testing::ExampleStep example;
  example.names.dimensions = 3;
  example.names.spacing = {1.25, 0.75, 1.0};
  example.names.dt = 0.125;
  example.names.fields = std::move(fields);
  example.names.coefficients = std::move(coefficients);
  example.step = step;
  const Canonical canonical = canonical_form(testing::system_of(example));
  Domain domain;
  domain.dimensions = 3;
  domain.shape = {32, 32, 32};
  domain.faces.fill({Face{BoundaryKind::dirichlet}, Face{BoundaryKind::dirichlet}});
  const std::vector<Domain> domains(example.names.fields.size(), domain);
  return group_of(canonical, domains, 0, static_cast<int>(canonical.equations.size()), grid_axes(domain));
}

SystemGroup group_in_3d(std::vector<std::string> fields, std::vector<std::string> coefficients,
                        const std::string& step) {
  return required(made_in_3d(std::move(fields), std::move(coefficients), step));
}

/// Returns true if any read lies before the point along a kernel axis.
bool reads_before(const std::vector<GroupRead>& reads, int axis) {
  return std::ranges::any_of(reads, [&](const GroupRead& read) { return read.offset[axis] < 0; });
}

TEST(KeptGroups, FluxesAreKeptAlongTheMarchAndTakenAlongRows) {
  const SystemGroup heat = group_in_3d({"T"}, {"k"}, R"(
      T.next = T + dt*( d(k*d(T, x, at=0.5), x, at=-0.5) + d(k*d(T, y, at=0.5), y, at=-0.5)
                      + d(k*d(T, z, at=0.5), z, at=-0.5) )
    )");
  ASSERT_TRUE(heat.kept && heat.taken);
  EXPECT_EQ(heat.kept->values, 1);
  EXPECT_EQ(heat.taken->values, 1);
  EXPECT_EQ(heat.taken->taken, 1);
  EXPECT_FALSE(reads_before(heat.kept->reads, plane_axis));
  EXPECT_TRUE(reads_before(heat.kept->reads, column_axis));
  EXPECT_FALSE(reads_before(heat.taken->reads, column_axis));
  EXPECT_TRUE(reads_before(heat.taken->reads, row_axis));
}

TEST(KeptGroups, SumsAreKeptUnlessMoreValuesWouldBeHeld) {
  const SystemGroup diffusion = group_in_3d({"u", "v"}, {}, R"(
      u.next = u + dt*laplace(u) - u*v
      v.next = v + dt*laplace(v) + u*v
    )");
  ASSERT_TRUE(diffusion.kept);
  EXPECT_EQ(diffusion.kept->values, 2);
  EXPECT_FALSE(reads_before(diffusion.kept->reads, plane_axis));
  EXPECT_FALSE(diffusion.taken);
  // What is read as `.previous` later is held anyway.
  EXPECT_FALSE(group_in_3d({"p"}, {"c"}, "p.next = 2*p - p.previous + (c*dt)^2*laplace(p)").kept);
}

TEST(SystemGroups, TooLongOnesSayWhy) {
  // Every point of a that b reads is computed once more.
  const auto made = made_in_3d({"a", "b"}, {}, R"(
      a.next = a*a + laplace(a, order=8)
      b.next = laplace(laplace(laplace(a.next*a.next, order=8), order=8), order=8)
    )");
  ASSERT_TRUE(std::holds_alternative<NoKernel>(made));
  EXPECT_EQ(
      std::get<NoKernel>(made).why,
      "the statements from that of a to that of b have more than 20000 operations and weights, more than "
      "a kernel for GPUs takes");
}

TEST(WallPrograms, Compile) {
  for (const char* architecture : {"sm_90a", "sm_80"}) {
    const Compiled walls =
        KernelCompiler(architecture, "").compile_fresh("kernels/cuda/system/fill_walls.cuh", "");
    EXPECT_EQ(testing::max_spilled_bytes(walls.log), 0) << walls.log;
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
