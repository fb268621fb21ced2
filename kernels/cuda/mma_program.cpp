// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/mma_program.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/cuda/kernel_stencil.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve::cuda {
namespace {

// Weights and sums stay in registers where they leave enough for the rest.
constexpr int fp32_terms = 3, most_unrolled = 800, most_instructions = 1500, most_resident_registers = 144;

constexpr int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

/// The stencil with its axes in the order of the kernels.
Stencil in_kernel_axes(const Stencil& stencil, const Domain& domain) {
  const std::array<int, 3> axes = grid_axes(domain);
  const auto turned = [&](const Index3& p) { return Index3{p[axes[0]], p[axes[1]], p[axes[2]]}; };
  const Index3 radius = turned(stencil.radius()), extent = 2 * radius + Index3{1, 1, 1};
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  for (const spsolve::Tap& tap : stencil.taps()) {
    const Index3 p = turned(tap.offset) + radius;
    weights[static_cast<std::size_t>((p[0] * extent[1] + p[1]) * extent[2] + p[2])] = tap.weight;
  }
  return {extent, weights, radius};
}

/// The output that row i of an instruction holds where tiles are a multiple of 16 columns: after the 8 x 8
/// transposition of both halves every lane has four neighbours.
constexpr std::size_t interleaved(std::size_t i) {
  const std::size_t row = i % 16;
  return i - row + row % 8 / 2 * 4 + row / 8 * 2 + row % 2;
}

void interleave_rows(SlicedOperand& operand) {
  for (Operand& slice : operand.slices) {
    const Operand before = slice;
    const std::size_t columns = slice.compressed_columns();
    for (std::size_t i = 0; i < slice.rows(); ++i) {
      const std::size_t from = interleaved(i);
      slice.outputs[i] = before.outputs[from];
      std::copy_n(before.values.begin() + static_cast<std::ptrdiff_t>(from * columns), columns,
                  slice.values.begin() + static_cast<std::ptrdiff_t>(i * columns));
      std::copy_n(before.indices.begin() + static_cast<std::ptrdiff_t>(from * columns), columns,
                  slice.indices.begin() + static_cast<std::ptrdiff_t>(i * columns));
    }
  }
}

/// 32-bit words of an element, or of two.
std::uint32_t word_of(const WeightMatrix& matrix, Precision element, std::size_t row, std::size_t word) {
  const std::size_t count = elements_per_word(element);
  std::uint32_t bits = 0;
  for (std::size_t e = 0; e < count; ++e)
    if (const std::size_t k = word * count + e; row < matrix.rows() && k < matrix.columns())
      bits |= element_bits(element, matrix.value(row, k)) << (16 * e);
  return bits;
}

constexpr int largest_divisor(int number, int most) {
  while (number % most != 0) --most;
  return most;
}

/// Found by trying on H200 (docs/kernels-tensor.md).
MmaTile default_tile(const Domain& domain, const SlicedOperand& operand, Precision precision, bool is_dense,
                     int instructions) {
  MmaTile tile;
  const int slices = static_cast<int>(operand.slices.size());
  const bool is_half = storage_bytes(precision) == 2;
  const int sums = 4 * slices * (precision == Precision::fp64 ? 2 : 1);  // registers, per block
  if (domain.dimensions == 1) {
    tile.warps_x = 2;
    tile.blocks_x = is_half ? 8 : 4;
    tile.stages = 1;
    tile.blocks_per_multiprocessor = 8;
  } else if (domain.dimensions == 2) {
    const bool shared_weights = precision == Precision::fp64 || (is_dense && slices > 4);  // read less often
    tile.blocks_x = shared_weights && sums <= 64 ? 2 : 1;
    // Stages of some 10 to 30 KiB; the march is unrolled over whole multiples of the slices.
    tile.chunks_per_stage = slices * std::max(1, 12 / slices);
    const int most = is_half ? 20 : precision == Precision::fp64 ? 1 : 8;
    while (tile.chunks_per_stage > most)
      tile.chunks_per_stage = largest_divisor(tile.chunks_per_stage, tile.chunks_per_stage - 1);
    tile.blocks_per_multiprocessor = tile.blocks_x == 2 || precision == Precision::fp32 ? 2 : 3;
  } else {
    // Weights and sums in registers, all slices between two barriers: wide tiles of two blocks per warp, or,
    // where registers are short, one block.
    const bool held = is_half && !is_dense && slices <= 7 && 4 * instructions + sums <= 100;
    tile.warps_x = is_half ? held && slices <= 5 ? 4 : 2 : 1;
    tile.warps_y = !held ? 4 : slices <= 5 ? 2 : 8;
    tile.blocks_y = precision != Precision::fp32 && slices <= 5 ? 2 : 1;
    tile.chunks_per_stage = held ? slices : 1;
    tile.stages = held && slices != 5 ? 2 : 3;
    tile.blocks_per_multiprocessor = !held ? 2 : slices <= 3 ? 3 : slices <= 5 ? 2 : 1;
  }
  return tile;
}

}  // namespace

MmaProgram::MmaProgram(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
                       TensorCores cores, const MmaTile* tile)
    : precision_(precision),
      cores_(precision == Precision::fp64 ? TensorCores::dense : cores),
      element_(precision == Precision::fp32 ? Precision::bf16 : precision),
      terms_(precision == Precision::fp32 ? fp32_terms : 1) {
  const Stencil turned = in_kernel_axes(round_weights(stencil, precision), domain);
  operand_ = precision == Precision::fp64 ? slice_dense(turned, domain.dimensions > 1, domain.dimensions == 3)
                                          : slice_sparse(turned, layout, element_, domain.dimensions == 3);
  if (storage_bytes(precision) == 2 && operand_.tile[x_axis] % 16 == 0) interleave_rows(operand_);

  double largest = 0;
  for (const spsolve::Tap& tap : turned.taps()) largest = std::max(largest, std::abs(tap.weight));
  if (precision == Precision::fp16) scale_ = power_of_two_scale(largest);
  weight_terms_.assign(terms_, operand_);
  for (std::size_t d = 0; d < operand_.slices.size(); ++d)
    for (std::size_t i = 0; i < operand_.slices[d].values.size(); ++i) {
      const double value = operand_.slices[d].values[i] * scale_;
      const auto parts = terms_ == 1 ? std::vector{value} : split_terms(value, element_, terms_);
      for (int term = 0; term < terms_; ++term) weight_terms_[term].slices[d].values[i] = parts[term];
    }

  const int needed = b_registers(operand_, element_);
  const bool pairs_only = cores_ == TensorCores::dense && precision != Precision::fp64;
  const int whole = pairs_only ? 2 : 4;
  for (registers_ = 0; registers_ < needed;) {
    const int left = needed - registers_;
    const int least = precision == Precision::fp64 ? 1 : 2;
    step_registers_.push_back(
        left >= whole ? whole
                      : std::max(least, static_cast<int>(std::bit_ceil(static_cast<unsigned>(left)))));
    registers_ += step_registers_.back();
  }

  Box reach{operand_.first().inputs.front(), operand_.first().inputs.front()};
  for (const Index3& p : operand_.first().inputs)
    for (int axis = 0; axis < axis_count; ++axis) {
      reach.begin[axis] = std::min(reach.begin[axis], p[axis]);
      reach.end[axis] = std::max(reach.end[axis], p[axis] + 1);
    }
  window_ = reach.begin;
  window_[0] = tap_box(turned).begin[0];
  if (elements_per_word(element_) == 2) window_[x_axis] -= wrap(window_[x_axis], 2);
  tile_ =
      tile ? *tile : default_tile(domain, operand_, precision, cores_ == TensorCores::dense, instructions());
  const int slices = static_cast<int>(operand_.slices.size());
  if (tile_.chunks_per_loop == 0) tile_.chunks_per_loop = std::lcm(slices, tile_.chunks_per_stage);
  if (code_instructions() > most_instructions)
    throw std::invalid_argument("tensor cores: a stencil of " + std::to_string(slices) +
                                " planes makes code of " + std::to_string(code_instructions()) +
                                " instructions; at most " + std::to_string(most_instructions) +
                                " compile within seconds");
  const int granule = 16 / static_cast<int>(storage_bytes(precision));
  const auto margin = [&](int axis) {
    return static_cast<int>(reach.end[axis] - window_[axis] - operand_.tile[axis]);
  };
  if (!tile && weights_in_registers())
    tile_.blocks_per_multiprocessor =
        std::clamp(65536 / (threads() * (resident_registers() + 24)), 1, tile_.blocks_per_multiprocessor);
  constexpr int most_shared = 227 << 10, most_box = 2048, box_alignment = 128;  // bytes; of one copy, in x
  const auto cut = [&] {
    box_columns_ = round_up(static_cast<int>(block_columns()) + margin(x_axis) + granule - 1, granule);
    box_rows_ = static_cast<int>(block_rows()) + margin(y_axis);
    // A row may come in several copies, which begin at multiples of 128 bytes.
    copies_ = (box_columns_ * 16 / granule + most_box - 1) / most_box;
    if (copies_ > 1) box_columns_ = round_up(box_columns_, copies_ * box_alignment / (16 / granule));
  };
  cut();
  while (shared_bytes() > most_shared / tile_.blocks_per_multiprocessor - 1024) {
    if (tile_.blocks_per_multiprocessor > 1)
      --tile_.blocks_per_multiprocessor;
    else if (tile_.stages > 2)
      --tile_.stages;
    else if (tile_.blocks_y > 1)
      tile_.blocks_y /= 2, cut();
    else if (tile_.warps_y > 1)
      tile_.warps_y /= 2, cut();
    else if (tile_.warps_x > 1)
      tile_.warps_x /= 2, cut();
    else
      throw std::invalid_argument("tensor cores: the stencil takes more shared memory than a block can have");
  }
}

int MmaProgram::outputs_per_block() const { return precision_ == Precision::fp64 ? 8 : 16; }

int MmaProgram::m_blocks() const {
  return round_up(static_cast<int>(volume(operand_.tile)), outputs_per_block()) / outputs_per_block();
}

int MmaProgram::slots() const {
  return terms_ * static_cast<int>(operand_.slices.size() * step_registers_.size()) * m_blocks();
}

/// Weights that tensor cores take in one turn of the march, as the code has it: what compilation takes
/// depends on them.
int MmaProgram::code_instructions() const {
  const int steps = static_cast<int>(step_registers_.size()),
            in_code = unrolled() ? steps : std::min(steps, 2);
  return tile_.chunks_per_loop * slots() / steps * in_code;
}

bool MmaProgram::unrolled() const {
  return step_registers_.size() <= 2 ||
         tile_.chunks_per_loop * slots() * (terms_ == 1 ? 1 : 2) <= most_unrolled;
}

int MmaProgram::resident_registers() const {
  const int words = precision_ == Precision::fp64 ? 8 : 4;  // of weights or sums, per instruction
  const int sums = static_cast<int>(operand_.slices.size()) * m_blocks() * tile_.blocks_x * tile_.blocks_y;
  return words * (instructions() + sums);
}

bool MmaProgram::weights_in_registers() const {
  return unrolled() && terms_ == 1 && resident_registers() <= most_resident_registers;
}

bool MmaProgram::used(std::size_t slice, int step) const {
  const WeightMatrix matrix = expand(operand_.slices[slice]);
  const std::size_t per_register = 4 * static_cast<std::size_t>(elements_per_word(element_));
  const std::size_t first = step * step_registers_.front() * per_register,
                    last = std::min(first + step_registers_[step] * per_register, matrix.columns());
  for (std::size_t m = 0; m < matrix.rows(); ++m)
    for (std::size_t k = first; k < last; ++k)
      if (matrix.value(m, k) != 0) return true;
  return false;
}

int MmaProgram::instructions() const {
  int count = 0;
  for (std::size_t d = 0; d < operand_.slices.size(); ++d)
    for (int step = 0; step < static_cast<int>(step_registers_.size()); ++step) count += used(d, step);
  return count * m_blocks() * terms_ * (terms_ + 1) / 2;
}

int MmaProgram::shared_bytes() const {
  const int element = static_cast<int>(storage_bytes(precision_));
  int bytes = tile_.stages * round_up(stage_planes() * box_rows_ * box_columns_ * element, 128);
  const bool here = !weights_in_registers();
  bytes += 16 * (here ? slots() * (precision_ == Precision::fp64 ? 2 : 1) * 32 : 1);
  bytes +=
      4 * (here && cores_ == TensorCores::sparse ? m_blocks() * static_cast<int>(step_registers_.size()) * 32
                                                 : 1);
  bytes += 4 * (unrolled() ? 1 : elements_per_word(element_) * registers_ * 4);
  return round_up(round_up(bytes, 8) + 8 * tile_.stages, 128);
}

/// A of one instruction as [16 bytes][lane] words; `metadata`, if any, gets one word per lane.
std::vector<std::uint32_t> MmaProgram::pack_step(int block, const Operand& slice, int step,
                                                 std::vector<std::uint32_t>* metadata) const {
  const int n = step_registers_[step], per_word = elements_per_word(element_);
  const std::size_t per_register = 4 * static_cast<std::size_t>(per_word),
                    first = step * step_registers_.front() * per_register,
                    last = std::min(first + n * per_register, slice.columns());
  const bool is_wide = precision_ == Precision::fp64;
  std::vector<std::uint32_t> words(is_wide ? 256 : 128);
  if (cores_ == TensorCores::sparse) {
    Operand part = slice;
    part.inputs.assign(slice.inputs.begin() + static_cast<std::ptrdiff_t>(first),
                       slice.inputs.begin() + static_cast<std::ptrdiff_t>(last));
    part.values.clear();
    part.indices.clear();
    const std::size_t kept = slice.sparsity.kept, group = slice.sparsity.group;
    for (std::size_t m = 0; m < slice.rows(); ++m)
      for (std::size_t c = first * kept / group; c < last * kept / group; ++c) {
        part.values.push_back(slice.values[m * slice.compressed_columns() + c]);
        part.indices.push_back(slice.indices[m * slice.compressed_columns() + c]);
      }
    const PackedOperand packed = pack(part, {element_, n * 4 * per_word});
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int i = 0; i < n; ++i) words[lane * 4 + i] = packed.values_of(block, 0, 0)[lane * n + i];
    if (metadata)
      metadata->insert(metadata->end(), packed.metadata_of(block, 0, 0),
                       packed.metadata_of(block, 0, 0) + warp_lanes);
    return words;
  }
  const WeightMatrix matrix = expand(slice);
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < (is_wide ? n : 2 * n); ++i) {
      if (!is_wide) {
        words[lane * 4 + i] =
            word_of(matrix, element_, 16 * block + a_row(lane, i), first / per_word + a_word(lane, i));
        continue;
      }
      // Weights are the right-hand operand: outputs as columns, points as rows.
      const std::size_t output = 8 * block + b_column(lane), point = first + b_word(lane, i);
      if (output >= matrix.rows() || point >= matrix.columns()) continue;
      const auto bits = std::bit_cast<std::uint64_t>(matrix.value(output, point));
      const int at = (i / 2 * warp_lanes + lane) * 4 + i % 2 * 2;
      words[at] = static_cast<std::uint32_t>(bits);
      words[at + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
  return words;
}

std::vector<std::uint32_t> MmaProgram::weights() const {
  std::vector<std::uint32_t> all;
  for (const SlicedOperand& term : weight_terms_)
    for (const Operand& slice : term.slices)
      for (int block = 0; block < m_blocks(); ++block)
        for (int step = 0; step < static_cast<int>(step_registers_.size()); ++step) {
          const auto words = pack_step(block, slice, step, nullptr);
          all.insert(all.end(), words.begin(), words.end());
        }
  return all;
}

std::vector<std::uint32_t> MmaProgram::metadata() const {
  std::vector<std::uint32_t> all;
  if (cores_ == TensorCores::sparse)
    for (int block = 0; block < m_blocks(); ++block)
      for (int step = 0; step < static_cast<int>(step_registers_.size()); ++step)
        pack_step(block, operand_.first(), step, &all);
  return all;
}

}  // namespace spsolve::cuda
