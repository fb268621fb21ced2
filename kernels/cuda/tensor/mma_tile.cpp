// SPDX-License-Identifier: Apache-2.0
// Chooses tiles of mma_sweep.cuh, found by trials on H200 (docs/log/mma.md), and fits them to a device.
#include <algorithm>
#include <numeric>

#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

// Weights and sums stay in registers if they leave enough for the rest.
constexpr int max_unrolled = 800, max_instructions = 1500, max_resident_registers = 144;

constexpr int largest_divisor(int number, int most) {
  while (number % most != 0) --most;
  return most;
}

}  // namespace

/// Returns the best known tile; with `grouped`, one whose march does not rotate.
MmaTile MmaProgram::default_tile(int dimensions, bool grouped) const {
  MmaTile tile;
  const int slices = this->slices();
  const bool is_half = storage_bytes(precision_) == 2, is_wide = precision_ == Precision::fp64,
             is_dense = cores_ == TensorCores::dense;
  const int words = is_wide ? 8 : 4;  // registers of the sums of an instruction
  const int sums = words * slices;    // registers of the sums of all slices, per block of tiles
  if (dimensions == 1) {
    tile.warps_x = 2;
    tile.blocks_x = is_half ? 8 : 4;
    tile.stages = 1;
    tile.blocks_per_multiprocessor = 8;
  } else if (grouped) {
    // Two blocks of tiles share one read of weights. Sums leave room for three warps per scheduler (fp32:
    // two). If weights take much shared memory, one thread block has all these warps.
    const int blocks = terms_.count == 1 ? 3 : 2;
    const bool one_block = weight_bytes() > 60 << 10;
    const int warps = 4 * (one_block ? blocks : 1);
    tile.warps_x = dimensions == 2 ? warps : is_half ? 2 : 1;
    tile.warps_y = warps / tile.warps_x;
    (dimensions == 2 ? tile.blocks_x : tile.blocks_y) = 2;
    tile.group = std::max(1, 48 / (words * m_blocks()));
    tile.chunks_per_stage = dimensions == 2 && !is_wide ? 4 : 1;
    tile.blocks_per_multiprocessor = one_block ? 1 : blocks;
  } else if (dimensions == 2) {
    const bool shared_weights = is_wide || (is_dense && slices > 4);  // weights are read less often
    tile.blocks_x = shared_weights && sums <= 64 ? 2 : 1;
    // Stages have some 10 to 30 KiB; the march is unrolled over whole multiples of the slices.
    tile.chunks_per_stage = slices * std::max(1, 12 / slices);
    const int most = is_half ? 20 : is_wide ? 1 : 8;
    while (tile.chunks_per_stage > most)
      tile.chunks_per_stage = largest_divisor(tile.chunks_per_stage, tile.chunks_per_stage - 1);
    tile.blocks_per_multiprocessor = tile.blocks_x == 2 || precision_ == Precision::fp32 ? 2 : 3;
  } else {
    // If weights and sums fit registers, all slices run between two barriers: wide tiles of two blocks per
    // warp, or of one block if registers are short.
    const bool held = is_half && !is_dense && slices <= 7 && 4 * instructions() + sums <= 100;
    tile.warps_x = is_half ? held && slices <= 5 ? 4 : 2 : 1;
    tile.warps_y = !held ? 4 : slices <= 5 ? 2 : 8;
    tile.blocks_y = precision_ != Precision::fp32 && slices <= 5 ? 2 : 1;
    tile.chunks_per_stage = held ? slices : 1;
    tile.stages = held && slices != 5 ? 2 : 3;
    tile.blocks_per_multiprocessor = !held ? 2 : slices <= 3 ? 3 : slices <= 5 ? 2 : 1;
  }
  return tile;
}

/// Sets the given tile, or the best known one.
void MmaProgram::choose_tile(int dimensions, const std::optional<MmaTile>& tile) {
  const auto take = [&](const MmaTile& taken) {
    tile_ = taken;
    if (!tile_.group && tile_.chunks_per_loop == 0)
      tile_.chunks_per_loop = std::lcm(slices(), tile_.chunks_per_stage);
  };
  // With more sums than this, compilers do not keep them in registers.
  const bool is_wide = precision_ == Precision::fp64;
  const int max_sums = dimensions == 2 || is_wide ? 64 : 44;
  take(tile ? *tile : default_tile(dimensions, (is_wide ? 8 : 4) * slices() > max_sums));
  if (!tile && code_instructions() > max_instructions) take(default_tile(dimensions, true));
  weight_storage_ =
      !tile_.group && unrolled() && terms_.count == 1 && resident_registers() <= max_resident_registers
          ? WeightStorage::registers
          : WeightStorage::shared;
  if (!tile && weight_storage_ == WeightStorage::registers)
    tile_.blocks_per_multiprocessor =
        std::clamp(65536 / (threads() * (resident_registers() + 24)), 1, tile_.blocks_per_multiprocessor);
}

/// Sizes the input of a block, and shrinks the block until it fits the device. Returns false if the smallest
/// block does not fit.
bool MmaProgram::fit(const BlockLimits& limits) {
  constexpr int max_box = 8 * max_box_extent,
                // This is the largest copy along x in bytes (words of 8), and the alignment of its parts.
      part_alignment = 128;
  const int granule = this->granule();
  const auto margin = [&](int axis) {
    return static_cast<int>(reach_end_[axis] - window_[axis] - operand_.tile[axis]);
  };
  const auto cut = [&] {
    box_columns_ = round_up(static_cast<int>(block_columns()) + margin(x_axis) + granule - 1, granule);
    box_rows_ = static_cast<int>(block_rows()) + margin(y_axis);
    copies_ = ceil_div(box_columns_ * 16 / granule, max_box);
    if (row_by_row()) box_columns_ = round_up(box_columns_, copies_ * part_alignment / (16 / granule));
  };
  cut();
  const auto halve = [&](int& count) {
    if (count == 1) return false;
    count /= 2;
    cut();
    return true;
  };
  const int limit = static_cast<int>(limits.shared_bytes);
  while (shared_bytes() > limit / tile_.blocks_per_multiprocessor - 1024) {
    if (tile_.blocks_per_multiprocessor > 1)
      --tile_.blocks_per_multiprocessor;
    else if (tile_.stages > 2)
      --tile_.stages;
    else if (weight_storage_ == WeightStorage::shared && 2 * weight_bytes() > limit)
      weight_storage_ = WeightStorage::memory;
    else if (!halve(tile_.blocks_y) && !halve(tile_.warps_y) && !halve(tile_.warps_x) &&
             !halve(tile_.blocks_x)) {
      if (weight_storage_ == WeightStorage::memory || weight_storage_ == WeightStorage::registers)
        return false;
      weight_storage_ = WeightStorage::memory;
    }
  }
  return true;
}

int MmaProgram::weight_bytes() const {
  const int fragments = slots() * (precision_ == Precision::fp64 ? 2 : 1),
            metadata = cores_ == TensorCores::sparse ? m_blocks() * steps() : 0;
  return warp_lanes * (16 * fragments + 4 * metadata);
}

int MmaProgram::shared_bytes(bool) const {
  const int element = static_cast<int>(storage_bytes(precision_));
  const int input = round_up(stage_planes() * box_rows_ * box_columns_ * element, 128),
            weights = weight_storage_ != WeightStorage::shared ? 16 + 4
                      : cores_ == TensorCores::sparse          ? weight_bytes()
                                                               : weight_bytes() + 4,
            offsets = 4 * (unrolled() ? 1 : elements_per_word(terms_.element) * registers_ * 4);
  return round_up(round_up(tile_.stages * input + weights + offsets, 8) + 8 * tile_.stages, 128);
}

/// Returns how often weights appear in the code of one march, or of a group. Compile time depends on it.
int MmaProgram::code_slots() const {
  return (tile_.group ? tile_.group : tile_.chunks_per_loop * slices()) * terms_.count * m_blocks() * steps();
}

int MmaProgram::code_instructions() const {
  return code_slots() / steps() * (unrolled() ? steps() : std::min(steps(), 2));
}

bool MmaProgram::unrolled() const {
  if (steps() <= 2) return true;
  // These cases have longer code per slot.
  const bool is_long = terms_.count > 1 || (tile_.group && precision_ == Precision::fp64);
  return code_slots() * (is_long ? 2 : 1) <= max_unrolled;
}

MmaProgram::ChunkWork MmaProgram::work() const {
  constexpr int fragment_bytes = 16 * warp_lanes;
  const int loaded =
      (unrolled() ? instructions() / products() * terms_.count : slots());  // fragments of weights
  const int blocks = tile_.blocks_x * tile_.blocks_y;
  const bool skips = unrolled() || tile_.group;  // steps without weights
  int registers = 0;                             // registers of B, for all instructions of a product
  for (const auto& slice : used_)
    for (int step = 0; step < steps(); ++step)
      if (!skips || slice[step]) registers += step_registers_[step];
  const double k = 4.0 * elements_per_word(terms_.element);
  const int weights = weight_storage_ == WeightStorage::registers
                          ? 0
                          : loaded * fragment_bytes * (precision_ == Precision::fp64 ? 2 : 1);
  return {loaded / terms_.count * products() * blocks, unrolled(),
          products() * 16 * 8 * k * registers * m_blocks(),
          weights + 4 * warp_lanes * registers_ * terms_.count * blocks};
}

/// Returns the registers that weights and sums would take.
int MmaProgram::resident_registers() const {
  const int words = precision_ == Precision::fp64 ? 8 : 4;  // words of weights or sums, per instruction
  const int sums = slices() * m_blocks() * tile_.blocks_x * tile_.blocks_y;
  return words * (instructions() + sums);
}

}  // namespace spsolve::cuda
