// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/precision.hpp"
#include "solver/plan/method.hpp"

namespace spsolve {

/// What keeps the plan from considering a method.
enum class Obstacle {
  no_kernel,  // none takes the unit, layout, precision or stencil, or none fits the device
  memory,     // the fused weights are too many
  depth,      // so many steps per launch are more than events or the layout leave room for
  promise,    // results would not keep what fp32 promises
  accuracy    // the error bound exceeds the accuracy that is accepted
};
std::string_view to_string(Obstacle obstacle);

/// Why a method is left out; `why` is a sentence without its end, with the number that decides.
struct Refusal {
  Obstacle obstacle = Obstacle::no_kernel;
  std::string why;
};

/// A method that the plan did not consider.
struct LeftOut {
  Method method;
  Precision precision = Precision::fp64;
  Refusal refusal;
};

/// Describes methods that were left out: a line for neighbours that differ in depth alone and have the same
/// obstacle, with the reason of the first of them. "sparse-tensor morph in fp32, 4 to 40 steps per launch:
/// promise: ...".
std::vector<std::string> describe(const std::vector<LeftOut>& left_out);

}  // namespace spsolve
