// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands in for kernels/cuda/conversions.cuh in the emulation.

#include <Eigen/Core>

namespace spsolve::cuda {

inline float value_of_fp16(unsigned short bits) { return Eigen::numext::bit_cast<Eigen::half>(bits); }
inline unsigned short fp16_of(float value) {
  return Eigen::numext::bit_cast<unsigned short>(Eigen::half(value));
}
inline unsigned short bf16_of(float value) {
  return Eigen::numext::bit_cast<unsigned short>(Eigen::bfloat16(value));
}

inline unsigned fp16_pair(float low, float high) { return fp16_of(low) | unsigned{fp16_of(high)} << 16; }
inline unsigned bf16_pair(float low, float high) { return bf16_of(low) | unsigned{bf16_of(high)} << 16; }

}  // namespace spsolve::cuda
