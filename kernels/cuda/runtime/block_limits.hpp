// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "kernels/calibration.hpp"

namespace spsolve::cuda {

/// Elements of a box that the copy engine of sm_90 brings, along each axis (cuTensorMapEncodeTiled).
constexpr int most_box_extent = 256;

/// What a kernel that is cut to measure has to fit; sm_90 unless told otherwise. Known without a device.
struct BlockLimits {
  int compute_capability = 90;           // 10 * major + minor
  std::size_t shared_bytes = 227 << 10;  // that a block may have
  int multiprocessors = 132;
  const Calibration* calibration = nullptr;  // by which tiles are chosen; null: the shipped one

  const Calibration& costs() const { return calibration ? *calibration : shipped_calibration(); }

  /// Whether tensors are copied by an engine of their own (TMA).
  bool copy_engine() const { return compute_capability >= 90; }
};

/// "9.0"
inline std::string capability_text(const BlockLimits& limits) {
  return std::to_string(limits.compute_capability / 10) + "." +
         std::to_string(limits.compute_capability % 10);
}

}  // namespace spsolve::cuda
