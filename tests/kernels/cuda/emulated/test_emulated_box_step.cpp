// SPDX-License-Identifier: Apache-2.0
// A step of many taps, as it is compiled for GPUs, in an emulation of its blocks.
#include "emulated.hpp"

#include "box_step_case.hpp"
#include "tile_step_bits.hpp"

namespace spsolve::cuda {
namespace {

TEST(EmulatedBoxStep, HasTheBitsOfTheCpuUnitInAnyRegions) {
  const BoxStepCase& c = case_named(emulated_case, box_step_cases);
  expect_bits_of_cpu_unit(c.step, c.tile(), launch_emulated_box_step);
}

}  // namespace
}  // namespace spsolve::cuda
