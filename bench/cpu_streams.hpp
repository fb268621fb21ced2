// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace spsolve {

/// Describes an array that streams read or write. It is aligned to 64 bytes.
struct StreamedArray {
  double* first;
  std::size_t bytes;  // those of all points
  std::size_t width;  // bytes of a point, as a multiple of those of a point of the narrowest array
};

/// Writes the sum of some arrays to each of some others, of width 1, past the caches where the instruction
/// set can. Returns the bytes that are read and written.
double stream(const std::vector<StreamedArray>& read, const std::vector<StreamedArray>& written);

}  // namespace spsolve
