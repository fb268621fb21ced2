// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "kernels/calibration.hpp"

namespace spsolve::cuda {

/// Is the largest extent of a box along each axis, in elements, that the tensor copy engine of sm_90 copies
/// at once (cuTensorMapEncodeTiled).
constexpr int max_box_extent = 256;

/// Holds the limits of a device that a kernel's tile has to fit. The defaults describe an H100 or H200
/// (sm_90), so that tiles can be chosen without a device.
struct BlockLimits {
  int compute_capability = 90;           // 10 * major + minor
  std::size_t shared_bytes = 227 << 10;  // the most shared memory per block
  int multiprocessors = 132;
  const Calibration* calibration = nullptr;  // coefficients for choosing tiles; null: the shipped ones

  const Calibration& costs() const { return calibration ? *calibration : shipped_calibration(); }

  /// Returns true if the device has a copy engine for tensors (TMA).
  bool copy_engine() const { return compute_capability >= 90; }
};

/// Returns the compute capability as text: "9.0".
inline std::string capability_text(const BlockLimits& limits) {
  return std::to_string(limits.compute_capability / 10) + "." +
         std::to_string(limits.compute_capability % 10);
}

}  // namespace spsolve::cuda
