// SPDX-License-Identifier: Apache-2.0
// write_system_constants NUMBER PRECISION CAPABILITY GROUP FILE writes the constants with which the kernels
// of a group of an example system are compiled; GROUP is "steps" for those of a march of several steps.
#include <string>

#include "system_case.hpp"
#include "write_changed.hpp"

int main(int, char** arguments) {
  const spsolve::cuda::SystemCase what(
      std::stoul(arguments[1]), spsolve::parse_precision(arguments[2]).value(), std::stoi(arguments[3]));
  const std::string group = arguments[4];
  spsolve::testing::write_changed(
      arguments[5], group == "steps" ? what.fused_constants() : what.constants(std::stoul(group)));
}
