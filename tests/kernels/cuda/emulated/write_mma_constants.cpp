// SPDX-License-Identifier: Apache-2.0
// write_mma_constants CASE FILE: the constants that the kernel of a case is compiled with.
#include <fstream>

#include "mma_case.hpp"

int main(int, char** arguments) {
  std::ofstream(arguments[2]) << spsolve::cuda::mma_case(arguments[1]).program().constants(false, true);
}
