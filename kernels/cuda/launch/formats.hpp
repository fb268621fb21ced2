// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/precision.hpp"

namespace spsolve::cuda {

/// Names the number types that a kernel reads and writes. Fields are in storage precision; intermediate
/// results of a launch are in compute precision.
struct Formats {
  Precision storage = Precision::fp64;
  bool in_stored = true, out_stored = true;

  int in_bytes() const { return in_stored ? static_cast<int>(storage_bytes(storage)) : compute_bytes(); }
  int out_bytes() const { return out_stored ? static_cast<int>(storage_bytes(storage)) : compute_bytes(); }
  int compute_bytes() const { return storage == Precision::fp64 ? 8 : 4; }
  friend auto operator<=>(const Formats&, const Formats&) = default;
};

}  // namespace spsolve::cuda
