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
/// is [lane][mma.a_registers()], `metadata` [lane]; b uses its first mma.b_registers() registers. Sums as
/// tensor cores of Hopper make them: exact products and the accumulator are aligned to the largest, cut off
/// two bits below the last of fp32 and added; the sum is cut off to fp32 (Fasi, Higham, Mikaitis and Pranesh
/// 2021; Khattak and Mikaitis 2025, arXiv:2512.07004): the same bits, as tests compare on H200. Others keep
/// fewer bits and add in shorter groups: results agree within the error bound. Throws std::invalid_argument
/// on metadata that the PTX ISA leaves undefined.
void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d);

}  // namespace spsolve
