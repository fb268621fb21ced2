// SPDX-License-Identifier: Apache-2.0
// write_step_constants CASE FILE: the constants that the kernel of a case is compiled with.
#include <fstream>

#include "step_case.hpp"

int main(int, char** arguments) {
  const auto& c = spsolve::cuda::step_case(arguments[1]);
  std::ofstream(arguments[2]) << constants_text(c.stencil(), c.formats(), nullptr);
}
