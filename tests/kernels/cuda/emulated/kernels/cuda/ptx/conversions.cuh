// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces kernels/cuda/ptx/conversions.cuh in the emulation.

#include <bit>

#include "kernels/precision.hpp"

namespace spsolve::cuda {

inline float value_of_fp16(unsigned short bits) {
  return static_cast<float>(std::bit_cast<spsolve::Half>(bits));
}
inline unsigned short fp16_of(float value) { return std::bit_cast<unsigned short>(spsolve::Half(value)); }
inline unsigned short bf16_of(float value) { return spsolve::Bfloat16(value).bits; }

inline unsigned fp16_pair(float low, float high) { return fp16_of(low) | unsigned{fp16_of(high)} << 16; }
inline unsigned bf16_pair(float low, float high) { return bf16_of(low) | unsigned{bf16_of(high)} << 16; }

}  // namespace spsolve::cuda
