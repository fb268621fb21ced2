// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/separable_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr int chunk = 16;  // bytes that a lane reads at once

/// Returns the wavefronts of a load of one chunk per lane, or per every other lane. Half a warp takes one
/// wavefront if no bank has two chunks; otherwise each of its quarters takes as many as meet in a bank
/// (measured on H100).
template <class Address>
int wavefronts(Address&& address, bool every_other) {
  const auto max_at_a_bank = [&](int first, int lanes) {
    std::array<int, 8> uses{};
    for (int lane = first; lane < first + lanes; lane += every_other ? 2 : 1)
      ++uses[static_cast<std::size_t>(address(lane) / chunk % 8)];
    return *std::max_element(uses.begin(), uses.end());
  };
  int sum = 0;
  for (const int half : {0, 16})
    sum += max_at_a_bank(half, 16) == 1 ? 1 : max_at_a_bank(half, 8) + max_at_a_bank(half + 8, 8);
  return sum;
}

/// Describes the layout of rows of input in shared memory, in chunks.
struct InputRows {
  int pitch;
  int shift;  // shift of rows of second slabs
};

/// Returns the wavefronts of all windows of a row. Lanes of separable.cuh read rows of the first or second
/// slab along y, and in each two chunks of the first or second slab along x.
int wavefronts(const SeparableOperand& operand, const InputRows& rows, int storage_bytes) {
  const auto address = [&](int lane) {
    const int g = lane / 4, q = lane % 4, second_slab = g / 2 % 2;
    const int row = g / 4 * 8 + second_slab * 16 * operand.y.windows + g % 2;
    return (row * rows.pitch + second_slab * rows.shift) * chunk +
           (q / 2 * 8 + q % 2 * 16 * operand.x.windows) * storage_bytes;
  };
  const int paired = operand.x.paired;
  return paired * wavefronts(address, false) + (operand.x.windows - paired) * wavefronts(address, true);
}

/// Returns the layout with the fewest wavefronts and, among those, the narrowest rows of at least `needed`
/// chunks.
InputRows input_rows(const SeparableOperand& operand, const SeparableTile& tile, int needed,
                     int storage_bytes) {
  const auto cost = [&](const InputRows& rows) {
    return std::pair(wavefronts(operand, rows, storage_bytes), rows.pitch);
  };
  const int max_shift = tile.shifted_rows && operand.z_taps == 1 ? 4 : 0;  // planes come in one box
  InputRows best{needed, 0};
  for (int shift = 0; shift <= max_shift; ++shift)
    for (int pitch = needed + shift; pitch < needed + shift + 8; ++pitch)
      if (cost({pitch, shift}) < cost(best)) best = {pitch, shift};
  return best;
}

constexpr std::size_t max_terms = 8;
constexpr int max_z_taps = 15;  // sums that registers hold
constexpr int min_warps = 4;    // one per scheduler; blocks with fewer take fewer columns per warp instead

/// Returns the number of fragments of A.
int weight_fragments(const SeparableOperand& operand) {
  return operand.terms * operand.per_window() *
         (operand.x_rank * operand.x.windows + operand.rank * operand.y.windows);
}

/// Returns the tile of separable_planes.cuh: 64 columns, and as many rows as registers allow.
SeparableTile tile_of_planes(const SeparableOperand& operand, const BlockLimits& limits) {
  // A lane has registers for sums of planes, results, fragments between passes, and the weights if they are
  // few.
  const int fragments = 2 * operand.x_rank * 4 * operand.per_window();
  const int weights = 4 * weight_fragments(operand);
  SeparableTile tile;
  tile.warps = 4;
  tile.groups = 1;
  tile.bulk_stores = limits.copy_engine();
  const int others = 8 * (operand.z_taps - 1 + operand.z_rank) + 24 + fragments + 28;
  tile.weights_in_shared =
      weights > 32 || others + weights > 240 || (others <= 168 && others + weights > 176);
  const int registers = others + (tile.weights_in_shared ? 0 : weights);
  tile.warps_y = registers <= 128 ? 4 : registers <= 176 ? 3 : 2;
  tile.stages = 4;
  return tile;
}

SeparableShape shape_of(const SeparableOperand& operand, const SeparableTile& tile, int storage_bytes) {
  const bool in_planes = operand.z_taps > 1;
  SeparableShape shape{};
  shape.tile = tile;
  shape.row_margin = operand.y.begin;
  shape.block_rows = in_planes ? 16 * (tile.warps_y + 1) : 32 * operand.y.windows;
  shape.column_margin = round_down(operand.x.begin, 32 / storage_bytes);
  shape.window_column = operand.x.begin - shape.column_margin;
  const int needed = shape.window_column + tile.columns() - 16 + 16 * (operand.x.windows + operand.x.paired);
  const int granule = chunk / storage_bytes;
  const InputRows rows = input_rows(operand, tile, ceil_div(needed, granule), storage_bytes);
  shape.row_elements = rows.pitch * granule;
  shape.row_shift = rows.shift * granule;

  const auto add = [&](int bytes, int alignment) {
    shape.shared_bytes = round_up(shape.shared_bytes, alignment) + bytes;
  };
  const int stored_rows = in_planes ? 2 * 16 * tile.warps_y : shape.block_rows;  // in two buffers
  add(tile.bulk_stores ? tile.columns() * stored_rows * storage_bytes : 8 * storage_bytes, 1024);
  add(tile.stages * shape.block_rows * shape.row_elements * storage_bytes, 128);
  add((tile.staged_source ? tile.warps * shape.block_rows : 1) * tile.warp_columns() * 4, 128);
  const int fragments = weight_fragments(operand);
  add((tile.weights_in_shared ? fragments : 1) * 32 * 16, 16);
  add((2 * tile.stages + tile.warps) * 8, 8);
  shape.shared_bytes = round_up(shape.shared_bytes, 1024);
  return shape;
}

bool fits(const SeparableShape& shape, int storage_bytes, const BlockLimits& limits) {
  return static_cast<std::size_t>(shape.shared_bytes) <=
             limits.shared_bytes / shape.tile.blocks_per_multiprocessor &&
         shape.row_elements * storage_bytes <= 8 * max_box_extent && shape.block_rows <= max_box_extent;
}

/// Sets the groups per warp, and the numbers that depend on them.
void narrow(SeparableTile& tile, int groups, const BlockLimits& limits) {
  tile.groups = groups;
  tile.groups_at_once = std::min(tile.groups_at_once, groups);
  tile.bulk_stores = limits.copy_engine();
}

int stages_ahead(int stages) { return std::max(1, stages - 2); }

/// Returns the registers of a lane, per group of columns, that hold rows between two steps.
int history(const SeparableOperand& operand) {
  return 8 * operand.per_window() * operand.x_rank * operand.y.windows;
}

/// Returns the groups per warp in 16-bit formats, limited by registers. Besides the sums of eight slabs or
/// more, two groups with several factors spill; without a source in bf16 they spill so little that they still
/// gain.
int groups_of_halves(const SeparableOperand& operand, bool with_source) {
  const int windows = operand.y.windows;
  const bool spills =
      windows > 3 && operand.x_rank > 1 && (with_source || operand.element == Precision::fp16);
  return history(operand) <= 24 ? 4 : history(operand) <= 64 && !spills ? 2 : 1;
}

/// Returns the best known tile that fits; its `warps` are 0 if none does.
SeparableTile best_tile(const SeparableOperand& operand, int storage_bytes, const BlockLimits& limits) {
  const int windows = operand.y.windows;
  const int history = cuda::history(operand);
  const int weights = 4 * weight_fragments(operand);  // registers of a lane
  SeparableTile tile;
  if (operand.z_taps > 1) {
    tile = tile_of_planes(operand, limits);
  } else if (storage_bytes == 2) {
    tile.groups = groups_of_halves(operand, false);
  } else if (history == 32) {  // two smaller blocks per multiprocessor
    tile.warps = 4;
    tile.blocks_per_multiprocessor = 2;
    tile.groups = windows == 1 ? 2 : 1;
    tile.stages = windows == 1 ? 3 : 2;
  } else {
    tile.groups = history <= 16 ? 2 : 1;
  }
  if (operand.z_taps == 1) {
    if (!limits.copy_engine() && tile.groups > 1) tile.groups /= 2;  // addresses of copies take registers
    if (operand.x.windows > 1 && windows == 1 && history <= 16) tile.groups_at_once = tile.groups;
    tile.weights_in_shared = weights > 32;
    narrow(tile, tile.groups, limits);
  }
  const auto fits = [&] { return cuda::fits(shape_of(operand, tile, storage_bytes), storage_bytes, limits); };
  while (!fits() && tile.stages > 2) --tile.stages;
  if (!fits()) tile.blocks_per_multiprocessor = 1;
  while (!fits() && tile.warps_y > 1) --tile.warps_y;
  const auto narrow_boxes = [&] { return tile.bulk_stores && tile.warp_columns() * storage_bytes < 64; };
  while (!fits() && operand.z_taps == 1 && (tile.warps > 1 || narrow_boxes())) {
    if (narrow_boxes())
      tile.bulk_stores = false;
    else if (tile.warps > min_warps || tile.groups == 1)
      tile.warps /= 2;
    else
      narrow(tile, tile.groups / 2, limits);
  }
  if (!fits()) tile.warps = 0;
  tile.ahead = stages_ahead(tile.stages);
  tile.shifted_rows = operand.z_taps == 1;
  if (!fits()) tile.shifted_rows = false;
  return tile;
}

/// Returns the shape with the source in shared memory, if there is room for it and for at least two stages of
/// as many warps. Otherwise returns a shape without it, in 16-bit formats with one group if more groups would
/// spill beside the sums of eight slabs.
SeparableShape with_staged_source(const SeparableOperand& operand, const SeparableShape& shape,
                                  int storage_bytes, const BlockLimits& limits) {
  if (!limits.copy_engine() || operand.z_taps > 1) return shape;
  const auto fitting = [&](int groups, bool staged) -> std::optional<SeparableShape> {
    SeparableTile tile = shape.tile;
    tile.staged_source = staged;
    if (storage_bytes == 2 && groups < tile.groups) tile.warps = SeparableTile{}.warps;
    narrow(tile, groups, limits);
    for (tile.stages = SeparableTile{}.stages; tile.stages > 1; --tile.stages) {
      tile.ahead = stages_ahead(tile.stages);
      for (const bool shifted : {true, false}) {
        tile.shifted_rows = shifted;
        const SeparableShape sourced = shape_of(operand, tile, storage_bytes);
        if (fits(sourced, storage_bytes, limits)) return sourced;
      }
    }
    return std::nullopt;
  };
  const int groups = shape.tile.groups;
  const int most = storage_bytes == 2 ? std::min(groups, groups_of_halves(operand, true)) : groups;
  for (int fewer = most; fewer >= 1; fewer /= 2)
    if (const auto staged = fitting(fewer, true)) return *staged;
  const bool spills = storage_bytes == 2 && groups > 1 && operand.y.windows > 3;
  return spills ? fitting(1, false).value_or(shape) : shape;
}

}  // namespace

OrNoKernel<SeparableProgram> SeparableProgram::make(const SeparableStencil& stencil, Precision precision,
                                                    const BlockLimits& limits,
                                                    const std::optional<SeparableTile>& tile) {
  if (precision == Precision::fp64) return NoKernel{"separable: not in fp64"};
  if (stencil.terms.size() > max_terms)
    return NoKernel{"separable: the weights have " + std::to_string(stencil.terms.size()) +
                    " terms, kernels take " + std::to_string(max_terms)};
  if (auto none = why_no_mma(limits)) return *none;
  SeparableProgram program(stencil, precision);
  if (auto none = program.refusal()) return *none;
  const int bytes = static_cast<int>(storage_bytes(precision));
  const SeparableTile best = best_tile(program.operand_, bytes, limits);
  if (best.warps == 0)
    return NoKernel{"separable: no tile of so wide a stencil fits the " +
                    std::to_string(limits.shared_bytes) + " bytes of shared memory of a block"};
  program.shape_ = shape_of(program.operand_, tile.value_or(best), bytes);
  program.sourced_ =
      tile ? program.shape_ : with_staged_source(program.operand_, program.shape_, bytes, limits);
  return program;
}

SeparableProgram::SeparableProgram(const SeparableStencil& stencil, Precision precision)
    : precision_(precision),
      along_x_(stencil.taps.extent()[y_axis] == 1 && stencil.taps.begin[y_axis] == 0),
      operand_(separable_operand(stencil, precision)) {}

std::optional<NoKernel> SeparableProgram::refusal() const {
  if (!in_planes())
    return operand_.z_begin == 0 ? std::nullopt
                                 : std::optional(NoKernel{"separable: all taps lie in another plane"});
  if (operand_.y.windows > 1)
    return NoKernel{"separable: with taps along z the weights span 17 rows at most"};
  if (operand_.z_taps > max_z_taps)
    return NoKernel{"separable: the weights span " + std::to_string(operand_.z_taps) +
                    " planes, kernels take " + std::to_string(max_z_taps)};
  if (operand_.z_rank * operand_.z_taps > max_z_weights)
    return NoKernel{"separable: too many different factors along z"};
  return std::nullopt;
}

std::vector<std::uint32_t> SeparableProgram::both(std::vector<std::uint32_t> ChainedAxis::*part) const {
  std::vector<std::uint32_t> all = operand_.x.*part;
  all.insert(all.end(), (operand_.y.*part).begin(), (operand_.y.*part).end());
  return all;
}

SeparableArguments SeparableProgram::arguments(const View& in, const View& out, const View& source,
                                               const Region& region) const {
  SeparableArguments a{};
  a.in = in;
  a.out = out;
  a.source = source;
  a.region = region;
  a.first_row = round_down(region.begin[y_axis], row_granule);
  a.first_column = round_down(region.begin[x_axis], column_granule);
  a.scale = operand_.scale;
  for (std::size_t i = 0; i < operand_.z_values.size(); ++i)
    a.along_z[i] = operand_.scale * operand_.z_values[i];
  return a;
}

Index3 SeparableProgram::blocks(const SeparableArguments& a) const {
  const SeparableShape& shape = this->shape(a.source.data != nullptr);
  const std::int64_t planes = in_planes() ? a.planes_per_block : 1,
                     rows = in_planes() ? row_granule * shape.tile.warps_y
                                        : row_granule + a.steps_per_strip * shape.block_rows;
  return {ceil_div(a.region.end[z_axis] - a.region.begin[z_axis], planes),
          ceil_div(a.region.end[y_axis] - a.first_row, rows),
          ceil_div(a.region.end[x_axis] - a.first_column, shape.tile.columns())};
}

CopiedBox SeparableProgram::input_box(const SeparableArguments& a) const {
  const SeparableShape& shape = this->shape(a.source.data != nullptr);
  const int bytes = static_cast<int>(storage_bytes(precision_));
  const int rows =
      // Second slabs have a box of their own, since they are shifted.
      in_planes() ? shape.block_rows : shape.block_rows / 2;
  return {in_words(a.in, bytes), 8, rows, shape.row_elements * bytes / 8};
}

CopiedBox SeparableProgram::output_box(const SeparableArguments& a) const {
  const SeparableShape& shape = this->shape(a.source.data != nullptr);
  const int bytes = static_cast<int>(storage_bytes(precision_)), per_chunk = chunk / bytes;
  View written = a.out;
  written.end[x_axis] =
      std::max(round_down(a.region.end[x_axis], per_chunk), a.out.begin[x_axis] + per_chunk);
  written.end[y_axis] = a.region.end[y_axis];
  const int columns = in_planes() ? shape.tile.columns() : shape.tile.warp_columns();
  return {written, bytes, in_planes() ? row_granule : shape.block_rows, std::min(columns, 128 / bytes)};
}

CopiedBox SeparableProgram::source_box(const SeparableArguments& a) const {
  const SeparableShape& shape = this->shape(true);
  return {a.source, sizeof(float), shape.block_rows, shape.tile.warp_columns()};
}

std::string SeparableProgram::constants(bool aligned, bool with_source, double source_factor) const {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh", "kernels/cuda/ptx/sparse_mma.cuh"});
  const SeparableShape& shape = this->shape(with_source);
  const SeparableTile& tile = shape.tile;
  text.type("Stored", stored_name(precision_ == Precision::tf32 ? Precision::fp32 : precision_));
  text.element(operand_.element);
  text.integer("terms", operand_.terms);
  text.integer("rank", operand_.rank);
  text.integer("x_rank", operand_.x_rank);
  text.integer("z_rank", operand_.z_rank);
  text.integer("z_taps", operand_.z_taps);
  text.table("x_of", "[]", operand_.x_of);
  text.table("z_of", "[]", operand_.z_of);
  text.integer("x_windows", operand_.x.windows);
  text.integer("x_paired", operand_.x.paired);
  text.integer("y_windows", operand_.y.windows);
  text.integer("warps_x", tile.warps);
  text.integer("warps_y", tile.warps_y);
  text.integer("groups", tile.groups);
  text.integer("groups_at_once", tile.groups_at_once);
  text.integer("stages", tile.stages);
  text.integer("ahead", tile.ahead);
  text.integer("blocks_per_multiprocessor", tile.blocks_per_multiprocessor);
  text.integer("column_margin", shape.column_margin);
  text.integer("window_column", shape.window_column);
  text.integer("row_margin", shape.row_margin);
  text.integer("plane_margin", operand_.z_begin);
  text.integer("row_elements", shape.row_elements);
  text.integer("row_shift", shape.row_shift);
  text.integer("shared_bytes", shape.shared_bytes);
  text.flag("weights_in_shared", tile.weights_in_shared);
  text.flag("aligned", aligned);
  text.flag("bulk_stores", aligned && tile.bulk_stores);
  text.flag("with_source", with_source);
  text.put("float", "source_factor", ConstantsText::number(source_factor));
  text.flag("staged_source", aligned && with_source && tile.staged_source);
  return text.finished();
}

std::int64_t steps_per_strip(std::int64_t rows, std::int64_t block_rows, std::int64_t column_tiles,
                             std::int64_t resident) {
  constexpr std::int64_t warm_up = 2;  // steps that the first copies take
  std::int64_t best = 0, best_cost = INT64_MAX;
  for (std::int64_t steps = 0; steps <= 64; ++steps) {
    const std::int64_t strips = ceil_div(rows, steps * block_rows + row_granule);
    // On average, the last strip ends half a strip later.
    const std::int64_t cost = (2 * ceil_div(strips * column_tiles, resident) + 1) * (steps + 1 + warm_up);
    if (cost < best_cost) best_cost = cost, best = steps;
    if (strips == 1) break;
  }
  return best;
}

}  // namespace spsolve::cuda
