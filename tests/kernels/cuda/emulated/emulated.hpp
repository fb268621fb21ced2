// SPDX-License-Identifier: Apache-2.0
#pragma once

// This is the interface of a test program with one emulated kernel. The file that compiles the kernel for the
// host defines the case and the launch function of that kernel.

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cuda/scalar/scalar_arguments.hpp"
#include "kernels/cuda/system/fill_walls_arguments.hpp"
#include "kernels/cuda/tensor/mma_arguments.hpp"
#include "kernels/cuda/tensor/separable_arguments.hpp"
#include "kernels/cuda/transfer/pack_arguments.hpp"
#include "kernels/precision.hpp"

namespace spsolve::cuda {

/// Holds 16 bytes of weights, as kernels read them.
struct alignas(16) WeightChunk {
  std::uint32_t word[4];
};
inline std::vector<WeightChunk> chunks_of(const std::vector<std::uint32_t>& weights) {
  std::vector<WeightChunk> chunks(weights.size() / 4);
  std::memcpy(chunks.data(), weights.data(), chunks.size() * sizeof(WeightChunk));
  return chunks;
}

/// Names the case for which the kernel of this program was compiled.
extern const char* const emulated_case;

/// Each function runs the blocks of a launch, one after the other.
void launch_emulated_fill_walls(const FillArguments& a, Precision precision, int blocks, int arrays);
void launch_emulated_march(const ScalarArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads);
void launch_emulated_mma(const MmaArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads);
void launch_emulated_pack(const PackArguments& a, int blocks);
/// `blocks` is an Index3 (z, y, x), whose header most programs do not need.
void launch_emulated_separable(const SeparableArguments& a, const std::array<std::int64_t, 3>& blocks,
                               int threads);
void launch_emulated_step(const ScalarArguments& a, int blocks);
void launch_emulated_steps(const ScalarArguments& a, int blocks_x, int blocks_y, int stride);
void launch_emulated_tile_step(const ScalarArguments& a, int blocks_x, int blocks_y, int blocks_z);

}  // namespace spsolve::cuda
