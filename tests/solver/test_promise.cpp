// SPDX-License-Identifier: Apache-2.0
//
// The promises of docs/internals/numerics.md must hold over whole runs with every method that the plan may
// choose. Data have one sign, so that errors may have one sign, too. fp32 must stay within four times the
// error of single steps, and fp64 within 1e-14 per step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/catalogue/presets.hpp"
#include "kernels/reference.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "solver/plan/model.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

constexpr int steps = 240;

/// Holds three random fields and what exact steps make of them. The sums of a single field may happen to have
/// small rounding errors, and then have them in every step.
struct Runs {
  explicit Runs(const Problem& problem) {
    for (const int seed : {1, 2, 3}) {
      auto& values = start.emplace_back(testing::RandomCase(seed).uniform(problem.domain.box().points()));
      for (double& value : values) value = static_cast<float>(0.75 + 0.25 * value);
      exact.push_back(reference_steps(problem.domain, problem.stencil, values, steps));
    }
  }
  std::vector<std::vector<double>> start, exact;
};

/// Returns the relative L2 error after the steps of the runs, as root mean square over their fields.
double error_of(const Communicator& world, const Problem& problem, const Runs& runs, const Method& method,
                Backend& backend) {
  double squares = 0;
  for (std::size_t run = 0; run < runs.start.size(); ++run) {
    Block block(world, problem, Decomposition(problem.domain.shape, {1, 1, 1}), method, backend);
    block.set_state(testing::values_of(problem.domain, runs.start[run]));
    for (int step = 0; step < steps; step += method.fuse) block.launch(method.fuse);
    const auto found = testing::gathered(world, problem.domain, block.state());
    const std::vector<double>& exact = runs.exact[run];
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      error += std::pow(found[i] - exact[i], 2);
      norm += exact[i] * exact[i];
    }
    squares += error / norm / static_cast<double>(runs.start.size());
  }
  return std::sqrt(squares);
}

Problem problem_of(const char* preset, Precision precision) {
  const int dimensions = *preset_dimensions(preset);
  Problem problem{
      {dimensions, {1, 1, 1}, {}}, make_preset(preset, dimensions, {1, 1, 1}, {}), precision, false};
  const Index3 shape{22, 26, 31};
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis)
    problem.domain.shape[axis] = dimensions == 1 ? 797 : shape[axis];
  return problem;
}

/// Returns true if the fused weights have too many taps for emulation, which would take minutes.
bool has_many_taps(const Problem& problem, int fuse, const DeviceModel& device) {
  const Index3 reach = fuse * problem.stencil.radius();
  return volume(2 * reach + Index3{1, 1, 1}) > (device.gpu ? 31 * 31 : 15 * 15);
}

/// Checks 1e-14 per step for single steps, marches of several steps, and fused weights on tensor cores.
void expect_fp64_kept(const char* preset, const DeviceModel& device, const Communicator& world,
                      Backend& backend) {
  const Problem problem = problem_of(preset, Precision::fp64);
  const Runs runs(problem);
  int fused = 0;
  for (const int fuse : {1, 2, 4, 16})
    for (const Method& method : {Method(fuse), Method(fuse, UnitKind::tensor, fp64_layout(device.gpu))}) {
      if (method.fused_weights() && has_many_taps(problem, fuse, device)) continue;
      if (why_no_kernel(problem, device, method)) continue;
      if (!std::isfinite(evaluate(problem, device, method).seconds)) continue;  // no tile fits
      EXPECT_LE(error_of(world, problem, runs, method, backend), 1e-14 * steps)
          << to_string(method.unit) << ' ' << fuse;
      fused += method.fused_weights();
    }
  EXPECT_GT(fused, 0);
}

class Promise : public ::testing::TestWithParam<const char*> {};

void expect_promise_kept(const char* preset, const DeviceModel& device, const Communicator& world,
                         Backend& backend) {
  const Problem problem = problem_of(preset, Precision::fp32);
  const Runs runs(problem);
  const double scalar = error_of(world, problem, runs, Method(1), backend);
  int measured = 0;
  for (const Layout layout : {Layout::separable, Layout::strided_swap, Layout::morph})
    for (const int fuse : {1, 2, 5, 15}) {
      if (layout != Layout::separable && has_many_taps(problem, fuse, device)) continue;
      const Method method(fuse, UnitKind::sparse_tensor, layout, 0x1p-25);
      if (why_no_kernel(problem, device, method) || !keeps_promise(problem, method)) continue;
      if (!std::isfinite(evaluate(problem, device, method).seconds)) continue;  // no tile fits
      const double error = error_of(world, problem, runs, method, backend);
      std::printf("%s %s %d: %.2e, %.2f times single steps\n", preset, to_string(layout).data(), fuse, error,
                  error / scalar);
      EXPECT_LE(error, promised_over_scalar * scalar) << to_string(layout) << ' ' << fuse;
      ++measured;
    }
  EXPECT_GT(measured, 0);
}

TEST_P(Promise, IsKeptByEmulation) {
  const Communicator world;
  const auto cpu = testing::cpu_backend(world);
  expect_promise_kept(GetParam(), nominal_cpu(), world, *cpu.backend);
  expect_fp64_kept(GetParam(), nominal_cpu(), world, *cpu.backend);
}

TEST_P(Promise, IsKeptByGpus) {
  const Communicator world;
  const auto gpus = testing::gpu_backends(world);
  if (gpus.empty()) GTEST_SKIP() << "needs a GPU";
  expect_promise_kept(GetParam(), nominal_gpu(), world, *gpus.front().backend);
  expect_fp64_kept(GetParam(), nominal_gpu(), world, *gpus.front().backend);
}

INSTANTIATE_TEST_SUITE_P(Presets, Promise,
                         ::testing::Values("1d1r", "1d2r", "star2d1r", "box2d1r", "random2d2r", "jacobi2d",
                                           "jacobi2d-mehrstellen", "gaussian2d", "mean2d-7x7", "random2d5r",
                                           "random2d7r"));

}  // namespace
}  // namespace spsolve
