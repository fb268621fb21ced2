// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kernels/sparse/mma_shape.hpp"

namespace spsolve {

/// Holds the registers of one warp, [lane][register].
template <class Word, int Registers>
using WarpRegisters = std::array<std::array<Word, Registers>, warp_lanes>;

/// Emulates mma.sp::ordered_metadata on the CPU: D = A B + D from the bits that the lanes of one warp would
/// hold. `a` is [lane][mma.a_registers()], `metadata` is [lane], and of b the first mma.b_registers()
/// registers are used.
///
/// Sums follow the tensor cores of Hopper: exact products and the accumulator are aligned to the largest,
/// truncated two bits below the last bit of fp32 and added, and the sum is truncated to fp32 (Fasi, Higham,
/// Mikaitis and Pranesh 2021; Khattak and Mikaitis 2025, arXiv:2512.07004). Tests compare the bits on H200.
/// Other devices keep fewer bits and add in shorter groups; results agree within the error bound. Throws
/// std::invalid_argument for metadata that the PTX ISA leaves undefined.
void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d);

}  // namespace spsolve
