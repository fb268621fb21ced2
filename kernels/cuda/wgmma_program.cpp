// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wgmma_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/constants_text.hpp"
#include "kernels/cuda/wgmma_arguments.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/round_weights.hpp"

namespace spsolve::cuda {
namespace {

constexpr int most_ring = 12, most_stages = 4;
static_assert(wgmma_tile_rows == InputWindow::tile_rows && wgmma_tile_columns == InputWindow::tile_columns);

/// A function that multiplies A in registers by n columns of B; asm takes literals only, so it is made for n.
std::string multiply_function(const char* name, const char* types, const char* transposed, int n) {
  const int sums = n / 2;
  std::string registers, operands;
  for (int i = 0; i < sums; ++i) {
    registers.append(i ? ", %" : "%").append(std::to_string(i));
    operands.append(i ? ", \"+f\"(d[" : "\"+f\"(d[").append(std::to_string(i)).append("])");
  }
  const auto place = [&](int i) { return std::string("%").append(std::to_string(sums + i)); };
  return std::string("template <int selector>\n__device__ inline void ") + name + "(float (&d)[" +
         std::to_string(sums) +
         "], const unsigned (&a)[4], unsigned long long b, unsigned metadata, bool add) {\n  asm volatile(\n"
         "      \"{ .reg .pred p; setp.ne.b32 p, " +
         place(7) + ", 0; wgmma.mma_async.sp.sync.aligned.m64n" + std::to_string(n) + types + " {" +
         registers + "}, {" + place(0) + ", " + place(1) + ", " + place(2) + ", " + place(3) + "}, " +
         place(4) + ", " + place(5) + ", " + place(6) + ", p, 1, 1" + transposed +
         "; }\"\n      : " + operands +
         "\n      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b), \"r\"(metadata), "
         "\"n\"(selector), \"r\"(static_cast<int>(add)));\n}";
}

}  // namespace

WgmmaProgram::WgmmaProgram(const Stencil& stencil, Precision precision, const BlockLimits& limits,
                           WgmmaTile tile)
    : precision_(precision), stencil_(round_weights(stencil, precision)), tile_(tile) {
  if (precision != Precision::tf32 && precision != Precision::fp32)
    throw std::invalid_argument("wgmma sweep: tf32 and fp32 only");
  if (limits.compute_capability != 90) throw std::invalid_argument("wgmma sweep: sm_90 only");
  const auto window = input_window(stencil_);
  if (!window) throw std::invalid_argument("wgmma sweep: the stencil is too large");
  window_ = *window;
  const int least_ring =
      static_cast<int>(pieces(window_.rows, wgmma_tile_rows)) + tile_.y_groups * (split() ? 1 : 2) - 1;
  const auto fits = [&] { return shared_bytes(tile_) <= static_cast<int>(limits.shared_bytes); };
  for (int stages = most_stages; tile.stages == 0 && stages >= 2; stages -= 2) {
    tile_.stages = stages;
    tile_.ring = tile.ring ? tile.ring : least_ring;
    if (fits()) break;
  }
  if (tile.ring == 0)
    for (tile_.ring = std::max(most_ring, least_ring); tile_.ring > least_ring && !fits();) --tile_.ring;
  if (tile_.ring < least_ring || !fits())
    throw std::invalid_argument("wgmma sweep: shared memory does not hold the window of a tile");
}

int WgmmaProgram::shared_bytes(const WgmmaTile& tile) const {
  const int rows = (tile.ring + tile.y_groups - 1) * tile.x_groups * wgmma_tile_rows;
  const int rings = split() ? round_up(rows * tf32_row_bytes, 128) + 2 * round_up(rows * bf16_row_bytes, 128)
                            : round_up(rows * tf32_row_bytes, 128) + 2 * round_up(rows * 16, 128);
  const int raw = tile.stages * tile.x_groups * wgmma_tile_rows * wgmma_box_columns * 4;
  const int corrections = (split() ? tile.x_groups * tile.y_groups : 1) * 128 * 16;
  return rings + raw + corrections + round_up(8 * (tile.stages + 2 * tile.ring + 2), 128);
}

std::vector<std::uint32_t> WgmmaProgram::weights() const {
  const Operand exact = windowed_operand(stencil_, window_, Precision::tf32);
  PackedOperand leading = pack(exact, widest_mma(Precision::tf32), MmaWarps::four);
  if (!split()) return leading.values;
  // Of each row what multiplies the rest of the data, then what multiplies the data.
  Operand with_rest = windowed_operand(stencil_, window_, Precision::bf16), with_data = with_rest;
  for (double& value : with_data.values)
    value -= element_value(Precision::tf32, element_bits(Precision::tf32, value));
  const PackedOperand packed[2]{pack(with_rest, widest_mma(Precision::bf16), MmaWarps::four),
                                pack(with_data, widest_mma(Precision::bf16), MmaWarps::four)};
  std::vector<std::uint32_t> all = std::move(leading.values);
  constexpr int words = 4 * warp_lanes * 4;  // of a step
  for (int row = 0; row < window_.rows; ++row)
    for (const PackedOperand& one : packed)
      all.insert(all.end(), one.values_of(0, row, 0), one.values_of(0, row, 0) + words);
  return all;
}

std::vector<std::uint32_t> WgmmaProgram::metadata() const {
  std::vector<std::uint32_t> all;
  for (const Precision element : {Precision::tf32, Precision::bf16}) {
    const PackedOperand packed =
        pack(windowed_operand(stencil_, window_, element), widest_mma(element), MmaWarps::four);
    all.insert(all.end(), packed.metadata_of(0, 0, 0), packed.metadata_of(0, 0, 0) + 4 * warp_lanes);
  }
  return all;
}

std::string WgmmaProgram::constants(bool aligned, bool with_source) const {
  ConstantsText text({});
  const int n = 8 * tile_.x_groups * tile_.y_groups;
  text.flag("split", split());
  text.flag("aligned", aligned);
  text.flag("with_source", with_source);
  text.integer("window_rows", window_.rows);
  text.integer("window_begin_row", window_.first_row);
  text.integer("window_begin_column", window_.first_column);
  text.integer("x_groups", tile_.x_groups);
  text.integer("y_groups", tile_.y_groups);
  text.integer("wgmma_n", n);
  text.integer("ring", tile_.ring);
  text.integer("stages", tile_.stages);
  text.integer("shared_bytes", shared_bytes());
  text.line(multiply_function("wgmma_tf32", "k16.f32.tf32.tf32", "", n));
  text.line(multiply_function("wgmma_bf16", "k32.f32.bf16.bf16", ", 0", n));
  return text.finished();
}

}  // namespace spsolve::cuda
