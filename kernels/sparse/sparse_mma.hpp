// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kernels/sparse/mma_shape.hpp"

namespace spsolve {

/// Registers of one warp, [lane][register].
template <class Word, int Registers>
using WarpRegisters = std::array<std::array<Word, Registers>, warp_lanes>;

/// mma.sp::ordered_metadata on the CPU: D = A B + D from the bits that the lanes of one warp would hold. `a`
/// is [lane][mma.a_registers()], `metadata` [lane]; b uses its first mma.b_registers() registers. Products
/// are exact; those of an instruction are added to the accumulator as one, which is rounded to fp32.
/// (Hardware keeps few bits more than fp32 of such a sum and truncates it: results agree within the error
/// bound, not in every bit.) Throws std::invalid_argument on metadata that the PTX ISA leaves undefined.
void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d);

}  // namespace spsolve
