// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/precision.hpp"

namespace spsolve {

/// Converts between a value and the bits of an operand element: 16 for fp16 and bf16, 32 for tf32 (the low 13
/// are zero). Rounds once, ties to even.
std::uint32_t element_bits(Precision element, double value);
float element_value(Precision element, std::uint32_t bits);

}  // namespace spsolve
