// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/precision.hpp"
#include "solver/plan/method.hpp"

namespace spsolve {

/// Names the reason why the plan does not consider a method.
enum class Obstacle {
  no_kernel,  // no kernel takes the unit, layout, precision or stencil, or fits the device
  memory,     // there are too many fused weights
  depth,      // events or the layout leave no room for this many steps per launch
  promise,    // results would not keep what fp32 promises
  accuracy    // the error bound of the run exceeds the accuracy that is accepted
};
std::string_view to_string(Obstacle obstacle);

/// Says why a method is left out; `why` is a sentence without its end, with the number that decides.
struct Refusal {
  Obstacle obstacle = Obstacle::no_kernel;
  std::string why;
};

/// Holds a method that the plan did not consider.
struct RejectedMethod {
  Method method;
  Precision precision = Precision::fp64;
  Refusal refusal;
};

/// Describes methods that were left out. Neighbours that differ only in depth and have the same obstacle
/// share a line, with the reason of the first: "sparse-tensor morph in fp32, 4 to 40 steps per launch:
/// promise: ...". Methods that follow each other and have everything else in common share a line, too:
/// "tensor strided-swap, tensor morph in fp64, ...".
std::vector<std::string> describe(const std::vector<RejectedMethod>& rejected);

}  // namespace spsolve
