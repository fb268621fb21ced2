// SPDX-License-Identifier: Apache-2.0
// write_system_constants NUMBER PRECISION CAPABILITY GROUP FILE writes the constants with which the kernels
// of a group of an example system are compiled.
#include <fstream>

#include "system_case.hpp"

int main(int, char** arguments) {
  const spsolve::cuda::SystemCase what(
      std::stoul(arguments[1]), spsolve::parse_precision(arguments[2]).value(), std::stoi(arguments[3]));
  std::ofstream(arguments[5]) << what.constants(std::stoul(arguments[4]));
}
