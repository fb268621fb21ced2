// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/wgmma_program.hpp"

#include <algorithm>

#include "kernels/cuda/ptx/wgmma_text.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve::cuda {
namespace {

constexpr int max_ring = 16;
static_assert(wgmma_tile_rows == InputWindow::tile_rows && wgmma_tile_columns == InputWindow::tile_columns);

WgmmaInstruction instruction(Precision element, int n, bool is_dense) {
  const char* type = element == Precision::tf32 ? "tf32" : element == Precision::bf16 ? "bf16" : "f16";
  return {.type = type, .n = n, .sparse = !is_dense, .a_in_registers = true};
}

/// Returns the weights with their zeros, for dense instructions with A in registers: [step of 16 columns]
/// [lane of the warpgroup][4]. A register holds the weights at the positions that it has in a sparse product.
std::vector<std::uint32_t> dense_fragments(const Operand& operand, Precision element) {
  constexpr int words = 8, lanes = 4 * warp_lanes, registers = 4;  // words of 16 columns
  const WeightMatrix matrix = expand(operand);
  std::vector<std::uint32_t> fragments;
  for (int step = 0; step < static_cast<int>(matrix.columns()) / (2 * words); ++step)
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < registers; ++i)
        fragments.push_back(word_of(matrix, element,
                                    lane / warp_lanes * mma_rows + a_row(lane % warp_lanes, i),
                                    step * words + a_word(lane % warp_lanes, i)));
  return fragments;
}

}  // namespace

OrNoKernel<WgmmaProgram> WgmmaProgram::make(const Stencil& stencil, Precision precision,
                                            const BlockLimits& limits, const WgmmaTile& tile,
                                            TensorCores cores) {
  if (tile.x_groups > wgmma_max_groups)
    return NoKernel{"wgmma.sp: a block has at most four groups of tiles side by side"};
  if (limits.compute_capability != 90)
    return NoKernel{"wgmma.sp: only GPUs of compute capability 9.0 have it, this one has " +
                    capability_text(limits)};
  const auto rounded =
      precision == Precision::fp32 ? std::optional(stencil) : round_weights(stencil, precision);
  if (!rounded) return too_small_weights(precision);
  const auto window = input_window(*rounded, precision);
  if (!window) return NoKernel{"wgmma.sp: registers do not hold the weights of so wide a stencil"};
  if (cores == TensorCores::dense &&
      (storage_bytes(precision) != 2 || window->parts > 1 || window->rows > max_dense_rows))
    return NoKernel{"wgmma: registers hold dense weights in 16 bits only, of at most " +
                    std::to_string(max_dense_rows - InputWindow::tile_rows + 1) + " x 16 points"};
  WgmmaProgram program(*rounded, precision, *window, tile, cores);
  if (!program.fit(tile, limits))
    return NoKernel{"wgmma.sp: the window of a tile takes more shared memory than the " +
                    std::to_string(limits.shared_bytes) + " bytes of a block"};
  return program;
}

WgmmaProgram::WgmmaProgram(const Stencil& stencil, Precision precision, const InputWindow& window,
                           const WgmmaTile& tile, TensorCores cores)
    : precision_(precision),
      stencil_(stencil),
      tile_(tile),
      cores_(cores),
      window_(window),
      scale_(spsolve::weight_scale(stencil, element())) {}

bool WgmmaProgram::fit(const WgmmaTile& tile, const BlockLimits& limits) {
  // In 16-bit formats instructions and conversions are short: twice the rows halve the number of waits.
  const bool half = storage_bytes(precision_) == 2;
  if (tile.y_groups == 0) tile_.y_groups = half ? 2 : 1;
  if (tile.together == 0) tile_.together = half ? 2 : 1;
  if (tile.stages == 0) tile_.stages = 4 * tile_.together;
  const int turns = halves() ? 1 : 2;
  const int min_ring = round_up(
      static_cast<int>(ceil_div(window_.rows, wgmma_tile_rows)) + tile_.y_groups * turns + tile_.together - 2,
      tile_.together);
  const auto fits = [&] { return shared_bytes(tile_) <= static_cast<int>(limits.shared_bytes); };
  if (tile.ring == 0)
    for (tile_.ring = std::max(max_ring, min_ring); tile_.ring > min_ring && !fits();)
      tile_.ring -= tile_.together;
  return tile_.ring >= min_ring && fits();
}

int WgmmaProgram::box_columns(bool aligned) const {
  return wgmma_box_columns(window_.parts, aligned ? 0 : 32 / static_cast<int>(storage_bytes(precision_)));
}

int WgmmaProgram::shared_bytes(const WgmmaTile& tile) const {
  const int element = static_cast<int>(storage_bytes(precision_));
  const int rows = (tile.ring + tile.y_groups - 1) * tile.x_groups * wgmma_tile_rows;
  const int terms = pairs() ? 2 : 1, columns = pairs() ? 4 : 2 * element;
  const int operands = round_up(terms * rows * wgmma_row_bytes(columns, window_.parts), 128);
  const int raw = tile.stages * tile.x_groups * wgmma_tile_rows * box_columns(true) * element;
  const int partial_sums = (halves() ? tile.x_groups * tile.y_groups : 1) * 128 * 16;
  return operands + raw + partial_sums + round_up(8 * (tile.stages * tile.x_groups + 2 * tile.ring), 128);
}

std::vector<Operand> WgmmaProgram::operands() const {
  if (pairs()) return windowed_pair(stencil_, window_).terms;
  std::vector<Operand> operands;
  for (int part = 0; part < window_.parts; ++part) {
    operands.push_back(windowed_operand(stencil_, window_, precision_, part));
    for (double& value : operands.back().values) value *= scale_;
  }
  return operands;
}

PackedOperand WgmmaProgram::packed(const Operand& operand) const {
  return pack(operand, widest_mma(element()), MmaWarps::four);
}

std::vector<std::uint32_t> WgmmaProgram::weights() const {
  std::vector<std::uint32_t> all;
  for (const Operand& operand : operands()) {
    const std::vector<std::uint32_t> values =
        is_dense() ? dense_fragments(operand, element()) : packed(operand).values;
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<std::uint32_t> WgmmaProgram::metadata() const {
  const PackedOperand any = packed(operands().front());
  return {any.metadata_of(0, 0, 0), any.metadata_of(0, 0, 0) + 4 * warp_lanes};
}

std::string WgmmaProgram::constants(bool aligned, bool with_source, double source_factor) const {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh"});
  const int n = wgmma_group_tiles * tile_.x_groups * tile_.y_groups;
  text.type("Stored", stored_name(precision_));
  text.flag("pairs", pairs());
  text.flag("dense", is_dense());
  text.flag("aligned", aligned);
  text.flag("with_source", with_source);
  text.put("float", "source_factor", ConstantsText::number(source_factor));
  text.put("float", "term_scale", std::to_string(static_cast<int>(pair_term_scale)));
  text.integer("parts", window_.parts);
  text.integer("window_rows", window_.rows);
  text.integer("window_begin_row", window_.first_row);
  text.integer("window_begin_column", window_.first_column);
  text.integer("x_groups", tile_.x_groups);
  text.integer("y_groups", tile_.y_groups);
  text.integer("box_columns", box_columns(aligned));
  text.integer("wgmma_n", n);
  text.integer("together", tile_.together);
  text.integer("ring", tile_.ring);
  text.integer("stages", aligned ? tile_.stages : tile_.stages / 2);  // unaligned boxes are wider
  text.integer("shared_bytes", shared_bytes());
  text.line(wgmma_function("multiply", instruction(element(), n, is_dense())));
  return text.finished();
}

}  // namespace spsolve::cuda
