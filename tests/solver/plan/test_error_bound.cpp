// SPDX-License-Identifier: Apache-2.0
//
// The error bound that the plan reports, and chooses by, must hold with the events of the user and beside
// walls, where the scalar unit takes single steps. In tf32, operands are rounded in each of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference.hpp"
#include "solver/evolve.hpp"
#include "solver/plan/plan.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

constexpr Face periodic{}, warm{BoundaryKind::dirichlet, 0.75}, closed{BoundaryKind::neumann};

struct Case {
  const char* name;
  Face y, x;
  EventPattern events;
  Schedule schedule;  // the schedule with these events; the last step has diagnostics
};
const Case cases[] = {
    {"periodic", periodic, periodic, {41, true}, {.last = 41, .fuse = 20}},
    {"dirichlet", warm, periodic, {41, true}, {.last = 41, .fuse = 20}},
    {"neumann", closed, closed, {41, true}, {.last = 41, .fuse = 20}},
    {"mixed", closed, warm, {41, true}, {.last = 41, .fuse = 10}},
    {"checkpoints",
     periodic,
     periodic,
     {20, false, 1.0 / 100},
     {.last = 100, .checkpoint_every = 20, .fuse = 15}},
    {"snapshots_between",
     periodic,
     periodic,
     {20, false, 1.0 / 30 + 1.0 / 120},
     {.last = 120, .snapshot_every = 30, .checkpoint_every = 20, .fuse = 10}},
    {"diagnostics", periodic, periodic, {2, true}, {.last = 40, .diagnostics_every = 2, .fuse = 15}},
    {"diagnostics_between_walls",
     closed,
     warm,
     {21, true},
     {.last = 84, .diagnostics_every = 21, .fuse = 5}}};

class ErrorBound : public ::testing::TestWithParam<Case> {};

/// The weights are a mean of five. 0.2 is always rounded down, so errors of steps add up.
TEST_P(ErrorBound, IsKept) {
  const Case& c = GetParam();
  const Communicator world;
  const auto cpu = testing::cpu_backend(world);
  const Stencil stencil({1, 3, 3}, {0, 0.2, 0, 0.2, 0.2, 0.2, 0, 0.2, 0}, {0, 1, 1});
  Domain domain{2, {1, 31, 37}, {}};
  domain.faces[y_axis] = {c.y, c.y};
  domain.faces[x_axis] = {c.x, c.x};
  std::vector<double> start = testing::RandomCase(1).uniform(domain.box().points());
  for (double& value : start) value = 0.75 + 0.25 * value;
  const auto exact = reference_steps(domain, stencil, start, static_cast<int>(c.schedule.last));
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16})
    for (const Method& method : {Method(c.schedule.fuse),
                                 Method(c.schedule.fuse, UnitKind::sparse_tensor, Layout::separable, 0x1p-12),
                                 Method(c.schedule.fuse, UnitKind::sparse_tensor, Layout::strided_swap)}) {
      const Problem problem{domain, stencil, precision, false};
      if (why_no_kernel(problem, nominal_gpu(), method)) continue;
      SCOPED_TRACE(fmt::format("{} {}", to_string(precision), describe(method)));
      Block block(world, problem, Decomposition(domain.shape, {1, 1, 1}), method, *cpu.backend);
      block.set_state(testing::values_of(domain, start));
      for (std::int64_t step = 0; step < c.schedule.last;) {
        const std::int64_t stop = next_stop(c.schedule, step);
        block.launch(static_cast<int>(stop - step));
        step = stop;
      }
      const auto found = testing::gathered(world, domain, block.state());
      double largest = 0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        largest = std::max(largest, std::abs(found[i] - exact[i]));
      // Nothing exceeds 1, and the initial values were rounded when they were stored.
      const Candidate candidate = evaluate(problem, nominal_gpu(), method);
      EXPECT_LE(largest, mean_error(problem, candidate, c.events) * static_cast<double>(c.schedule.last) +
                             unit_roundoff(precision));
    }
}

INSTANTIATE_TEST_SUITE_P(Events, ErrorBound, ::testing::ValuesIn(cases),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace spsolve
