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

/// Holds the arrays of the triad of STREAM (McCalpin 1995), a[i] = b[i] + s * c[i], which are far larger than
/// caches.
class StreamTriad {
 public:
  StreamTriad();
  /// Computes all of a. Returns the bytes that move: lines of a are read before they are written.
  double compute();

 private:
  static constexpr std::size_t length = std::size_t{1} << 25;
  std::vector<double> a_, b_, c_;
};

}  // namespace spsolve
