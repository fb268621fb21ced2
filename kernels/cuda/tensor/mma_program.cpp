// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/mma_program.hpp"

#include <algorithm>
#include <bit>

#include "kernels/rounding.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve::cuda {
OrNoKernel<MmaProgram> MmaProgram::make(const Domain& domain, const Stencil& stencil, Precision precision,
                                        Layout layout, TensorCores cores, const BlockLimits& limits,
                                        const std::optional<MmaTile>& tile) {
  if (auto none = why_no_mma(limits)) return *none;
  if (precision != Precision::fp64 && layout != Layout::strided_swap && layout != Layout::morph)
    return NoKernel{"mma: the layout " + std::string(to_string(layout)) + " has no slices of weights"};
  const auto rounded = round_weights(stencil, precision);
  if (!rounded) return too_small_weights(precision);
  MmaProgram program(domain, stencil, *rounded, precision, layout, cores, tile);
  if (!program.fit(limits))
    return NoKernel{"mma: the input of one warp takes more shared memory than the " +
                    std::to_string(limits.shared_bytes) + " bytes of a block"};
  return program;
}

MmaProgram::MmaProgram(const Domain& domain, const Stencil& exact, const Stencil& rounded,
                       Precision precision, Layout layout, TensorCores cores,
                       const std::optional<MmaTile>& tile)
    : precision_(precision),
      cores_(precision == Precision::fp64 ? TensorCores::dense : cores),
      terms_(operand_terms(precision)) {
  const Stencil turned = in_march_axes(rounded, domain.dimensions);
  operand_ = precision == Precision::fp64
                 ? slice_dense(turned, domain.dimensions > 1, domain.dimensions == 3)
                 : slice_sparse(turned, layout, terms_.element, domain.dimensions == 3);
  if (storage_bytes(precision) == 2 && operand_.tile[x_axis] % 16 == 0)
    for (Operand& slice : operand_.slices) slice = interleave_rows(slice);
  scale_ = weight_scale(turned, precision);
  split_weights(leading_grid(scale_ * sum_abs(exact)));  // as round_weights() does
  cut_steps();

  Box reach;
  for (const Index3& p : operand_.first().inputs) reach = hull(reach, p);
  window_ = reach.begin;
  reach_end_ = reach.end;
  window_[0] = tap_box(turned).begin[0];
  if (elements_per_word(terms_.element) == 2) window_[x_axis] -= wrap(window_[x_axis], 2);
  choose_tile(domain.dimensions, tile);
}

void MmaProgram::split_weights(double grid) {
  const auto [element, count] = terms_;
  weight_terms_.assign(count, operand_);
  for (std::size_t d = 0; d < operand_.slices.size(); ++d)
    for (std::size_t i = 0; i < operand_.slices[d].values.size(); ++i) {
      const double value = operand_.slices[d].values[i] * scale_;
      const auto parts = count == 1 ? std::vector{value} : split_weight(value, element, count, grid);
      for (int term = 0; term < count; ++term) weight_terms_[term].slices[d].values[i] = parts[term];
    }
}

/// Divides the registers of B into steps: whole instructions, and the smallest instruction that fits at the
/// end.
void MmaProgram::cut_steps() {
  const int needed = b_registers(operand_, terms_.element);
  const bool is_wide = precision_ == Precision::fp64, pairs_only = cores_ == TensorCores::dense && !is_wide;
  const int whole = pairs_only ? 2 : 4, least = is_wide ? 1 : 2;
  while (registers_ < needed) {
    const auto left = static_cast<unsigned>(needed - registers_);
    step_registers_.push_back(std::clamp(static_cast<int>(std::bit_ceil(left)), least, whole));
    registers_ += step_registers_.back();
  }
  for (const Operand& slice : operand_.slices) {
    const WeightMatrix matrix = expand(slice);
    std::vector<bool>& used = used_.emplace_back();
    for (int step = 0; step < steps(); ++step) used.push_back(has_weights(matrix, step));
  }
}

int MmaProgram::outputs_per_block() const { return precision_ == Precision::fp64 ? 8 : 16; }

int MmaProgram::m_blocks() const {
  return ceil_div(static_cast<int>(volume(operand_.tile)), outputs_per_block());
}

/// Returns whether a step of a slice has weights.
bool MmaProgram::has_weights(const WeightMatrix& matrix, int step) const {
  const std::size_t per_register = 4 * static_cast<std::size_t>(elements_per_word(terms_.element));
  const std::size_t first = step * step_registers_.front() * per_register,
                    last = std::min(first + step_registers_[step] * per_register, matrix.columns());
  for (std::size_t m = 0; m < matrix.rows(); ++m)
    for (std::size_t k = first; k < last; ++k)
      if (matrix.value(m, k) != 0) return true;
  return false;
}

int MmaProgram::instructions() const {
  int count = 0;
  for (const auto& slice : used_) count += static_cast<int>(std::count(slice.begin(), slice.end(), true));
  return count * m_blocks() * products();
}

MmaArguments MmaProgram::arguments(const View& in, const View& out, const View& source,
                                   const Region& region) const {
  MmaArguments a{};
  a.in = in;
  a.out = out;
  a.source = source;
  a.region = region;
  for (int axis = 0; axis < axis_count; ++axis)
    a.tile_begin[axis] = round_down(region.begin[axis], operand_.tile[axis]);
  a.chunks = ceil_div(region.end[plane_axis] - a.tile_begin[plane_axis], operand_.tile[plane_axis]);
  a.lead = static_cast<int>(
      wrap(a.tile_begin[column_axis] + window_[column_axis] - in.begin[column_axis], granule()));
  a.unscale = static_cast<float>(1.0 / scale_);
  return a;
}

std::int64_t MmaProgram::blocks(const MmaArguments& a, KernelAxis axis) const {
  return ceil_div<std::int64_t>(a.region.end[axis] - a.tile_begin[axis],
                                axis == row_axis ? block_rows() : block_columns());
}

bool MmaProgram::is_aligned(const MmaArguments& a) const {
  return wrap(a.in.begin[column_axis], granule()) == 0 && wrap(a.out.begin[column_axis], granule()) == 0;
}

CopiedBox MmaProgram::copied_box(const View& in) const {
  const int element = static_cast<int>(storage_bytes(precision_));
  return {in_words(in, element), 8, row_by_row() ? 1 : box_rows_, box_columns_ / copies_ * element / 8,
          row_by_row() ? 1 : stage_planes()};
}

}  // namespace spsolve::cuda
