// SPDX-License-Identifier: Apache-2.0
// Packs weights and metadata of mma_sweep.cuh in the order of instructions.
#include <algorithm>
#include <bit>

#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/sparse/packed_operand.hpp"

namespace spsolve::cuda {
/// Returns A of one instruction as words [16 bytes][lane]. If `metadata` is given, appends one word per lane
/// to it.
std::vector<std::uint32_t> MmaProgram::pack_step(int block, const Operand& slice, int step,
                                                 std::vector<std::uint32_t>* metadata) const {
  const Precision element = terms_.element;
  const int n = step_registers_[step], per_word = elements_per_word(element);
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
    const PackedOperand packed = pack(part, {element, n * 4 * per_word});
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
            word_of(matrix, element, 16 * block + a_row(lane, i), first / per_word + a_word(lane, i));
        continue;
      }
      // In fp64 weights are the right-hand operand: outputs are columns, points are rows.
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
