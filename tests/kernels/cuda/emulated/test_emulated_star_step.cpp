// SPDX-License-Identifier: Apache-2.0
// A step of few taps that reach far, as it is compiled for GPUs, in an emulation of its blocks.
#include "emulated.hpp"

#include "star_step_case.hpp"
#include "tile_step_bits.hpp"

namespace spsolve::cuda {
namespace {

TEST(EmulatedStarStep, HasTheBitsOfTheCpuUnitInAnyRegions) {
  const StarStepCase& c = case_named(emulated_case, star_step_cases);
  expect_bits_of_cpu_unit(c.step, c.tile(), launch_emulated_star_step);
}

}  // namespace
}  // namespace spsolve::cuda
