// SPDX-License-Identifier: Apache-2.0
// write_march_constants CASE FILE: the constants that the kernel of a case is compiled with.
#include <fstream>

#include "march_case.hpp"

int main(int, char** arguments) {
  const auto& c = spsolve::cuda::march_case(arguments[1]);
  const auto tile = c.tile();
  std::ofstream(arguments[2]) << constants_text(c.stencil(), c.formats(), &tile);
}
