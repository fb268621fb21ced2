// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/launch/launch_time.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"
#include "kernels/cuda/tensor/sweep_work.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve::cuda {
namespace {

/// Returns the cost of an instruction of a separable sweep of a plane in 16 bits. A warp that has its
/// scheduler to itself waits less, and least where groups or factors give it independent instructions. Four
/// groups wait for registers.
double half_plane_waits(int windows, int x_rank, const SeparableTile& tile,
                        const Calibration::Separable& costs) {
  if (tile.warps < 8) {
    if (windows == 4) return costs.alone_four_windows;
    if (tile.groups > 2 || x_rank > 1) return costs.alone_groups;
    return windows > 4 ? costs.alone_many_windows : costs.alone_few_windows;
  }
  if (tile.groups == 4) return costs.four_groups;
  if (windows > 4) return costs.many_windows;
  if (windows == 4) return costs.four_windows;
  if (windows == 3) return tile.groups == 2 ? costs.three_windows_two_groups : costs.three_windows;
  return tile.groups == 2 ? costs.two_groups : costs.one_group;
}

/// Returns half_plane_waits() plus the cost of spilled registers. Registers spill in kernels of many windows
/// with many factors.
double half_plane_cost(int windows, int x_rank, const SeparableTile& tile,
                       const Calibration::Separable& costs) {
  const double waits = half_plane_waits(windows, x_rank, tile, costs);
  if (windows > 5 && x_rank > 1) return costs.many_spills * waits;
  return windows > 3 ? waits * (1 + costs.window_spills * std::max(0, windows + x_rank - 7)) : waits;
}

/// Returns the cost of an instruction in 32 bits. With `split`, a sum has three products.
double word_plane_cost(int windows, int x_rank, const SeparableTile& tile, bool split,
                       const Calibration::Separable& costs) {
  if (split)
    return (windows > 2 ? costs.split_windows : 1.0) * std::max(1.0, x_rank * windows * tile.groups / 4.0);
  const double waits = tile.groups > 1              ? costs.word_groups
                       : x_rank < costs.max_factors ? costs.word_few_factors
                                                    : costs.word_many_factors;
  return waits *
         (windows > 2 ? costs.word_windows + costs.word_windows_factor * std::max(0, x_rank - 2) : 1.0);
}

/// Returns the instructions of a sweep per 16 x 16 results: two per term, pass and window of 32 points, twice
/// as many for tf32, and three products of two tf32 terms for fp32. In 3D a tile has one window of rows and
/// computes the pass along x for all 32 of them; in 2D the tile of the next rows takes over the others.
double tile_instructions(const SeparableOperand& operand, int dimensions, bool split) {
  const int first_passes = operand.x_rank * operand.x.windows * (dimensions == 3 ? 2 : 1);
  const int second_passes = dimensions == 1 ? 0 : operand.rank * operand.y.windows;
  return 2.0 * operand.per_window() * (split ? 3 : 1) * (first_passes + second_passes);
}

/// Describes how the strips of a sweep of a plane cover it (separable.cuh). Each strip marches down its rows
/// in steps of one block of rows, and begins with a step that fills registers.
struct Strips {
  std::int64_t columns, resident, steps, strips;
  std::int64_t tiles;  // tiles of 16 x 16 points, in all steps

  Strips(const SeparableShape& shape, std::int64_t rows, std::int64_t row_points, const BlockLimits& limits)
      : columns(ceil_div<std::int64_t>(row_points, shape.tile.columns())),
        resident(std::int64_t{shape.tile.blocks_per_multiprocessor} * limits.multiprocessors),
        steps(steps_per_strip(rows, shape.block_rows, columns, resident)),
        strips(ceil_div(rows, steps * shape.block_rows + row_granule)) {
    const std::int64_t last_rows = rows - (strips - 1) * (steps * shape.block_rows + row_granule),
                       last_steps = ceil_div<std::int64_t>(std::max<std::int64_t>(last_rows - row_granule, 0),
                                                           shape.block_rows),
                       warps = ceil_div<std::int64_t>(row_points, shape.tile.warp_columns());
    tiles = ((strips - 1) * (steps + 1) + last_steps + 1) * shape.block_rows / row_granule * warps *
            shape.tile.groups;
  }
};

/// Returns the seconds per point of a separable sweep of a plane, on the tiles of the kernel: whole waves of
/// strips, one block of rows after the other. Registers keep the rows that two blocks share.
double plane_seconds(const SeparableProgram& program, const Domain& domain, Precision precision,
                     bool with_source, const DeviceRates& device) {
  const Calibration::Separable& costs = device.limits.costs().separable;
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const SeparableOperand& operand = program.operand();
  const SeparableShape& shape = program.shape(with_source);
  const SeparableTile& tile = shape.tile;
  const Strips cut(shape, domain.shape[y_axis], domain.shape[x_axis], device.limits);
  const double instructions =
      tile_instructions(operand, domain.dimensions, split) * tile.groups * shape.block_rows / 16;
  const int windows = operand.y.windows;
  const double slower = (half ? half_plane_cost(windows, operand.x_rank, tile, costs)
                              : word_plane_cost(windows, operand.x_rank, tile, split, costs)) *
                        (operand.x_rank > costs.max_factors ? costs.factor_spills : 1.0);
  return static_cast<double>(ceil_div(cut.strips * cut.columns, cut.resident) * (cut.steps + 1)) *
         instructions * slower *
         instruction_seconds(half ? costs.waits_half : costs.waits_word,
                             half ? device.mma_half_sparse : device.mma_tf32_sparse, device) /
         static_cast<double>(domain.box().points());
}

/// Describes how the marches of a sweep in 3D cover a grid (separable_planes.cuh).
struct SeparableMarches {
  std::int64_t tiles, length, blocks;
  std::int64_t planes;  // planes of input that all blocks take

  SeparableMarches(const SeparableProgram& program, const Index3& shape, const BlockLimits& limits)
      : tiles(ceil_div<std::int64_t>(shape[x_axis], program.tile().columns()) *
              ceil_div<std::int64_t>(shape[y_axis], row_granule * program.tile().warps_y)),
        length(balanced_stretch(shape[z_axis], tiles, limits.multiprocessors, program.operand().z_taps + 1)),
        blocks(tiles * ceil_div(shape[z_axis], length)),
        planes(tiles * shape[z_axis] + blocks * (program.operand().z_taps - 1)) {}
};

/// Returns the seconds per point of a separable sweep in 3D: whole waves of marches, one plane after the
/// other. For each plane a warp has instructions for 16 x 16 points, multiply-adds along z, and its input in
/// shared memory.
double space_seconds(const SeparableProgram& program, const Domain& domain, Precision precision,
                     const DeviceRates& device) {
  const Calibration::Separable& costs = device.limits.costs().separable;
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const SeparableOperand& operand = program.operand();
  const SeparableMarches cut(program, domain.shape, device.limits);
  const std::int64_t waves = ceil_div<std::int64_t>(cut.blocks, device.limits.multiprocessors),
                     warm_up = operand.z_taps + 1;
  const double instructions = tile_instructions(operand, domain.dimensions, split);
  const double slot = 32 * schedulers_of_multiprocessor * device.limits.multiprocessors / device.scalar_fp32;
  const double seconds =
      instructions * instruction_seconds(half ? costs.space_half : costs.space_word,
                                         half ? device.mma_half_sparse : device.mma_tf32_sparse, device) +
      8.0 * operand.z_rank * operand.z_taps * (split ? costs.space_sums_split : costs.space_sums) * slot +
      costs.staged_byte * static_cast<double>(storage_bytes(precision));
  return static_cast<double>(waves * (cut.length + warm_up)) *
         (device.limits.costs().direct.block_step + static_cast<double>(program.tile().warps_y) * seconds) /
         (1 + (device.limits.costs().launch.fastest_clock - 1) *
                  (1 - utilization(domain, costs.space_enough_points))) /
         static_cast<double>(domain.box().points());
}

/// Returns the multiply-adds that a launch executes: passes along x and y for all its tiles of 16 x 16
/// points, and the pass along z. A line is swept as a plane whose rows are as long as a block is wide; its
/// pass along y multiplies by one.
double launched_fma(const SeparableProgram& program, const Domain& domain, Precision precision,
                    bool with_source, const BlockLimits& limits) {
  const SeparableOperand& operand = program.operand();
  const SeparableShape& shape = program.shape(with_source);
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const double passes =
      tile_instructions(operand, std::max(domain.dimensions, 2), split) * 16 * 8 * (half ? 32 : 16);
  if (domain.dimensions == 3) {
    const std::int64_t warps = shape.tile.warps * shape.tile.warps_y;
    const double sums = 256.0 * operand.z_rank * operand.z_taps;
    return static_cast<double>(SeparableMarches(program, domain.shape, limits).planes * warps) *
           (passes + sums);
  }
  const bool line = domain.dimensions == 1;
  const std::int64_t columns = line ? shape.tile.columns() : domain.shape[x_axis],
                     rows = line ? ceil_div(domain.shape[x_axis], columns) : domain.shape[y_axis];
  return static_cast<double>(Strips(shape, rows, columns, limits).tiles) * passes;
}

/// Returns the work of passes along x and y on tiles of 16 x 16 outputs, and of the pass along z.
SweepWork work_of(const SeparableProgram& program, const Domain& domain, Precision precision,
                  bool with_source, const DeviceRates& device) {
  const Calibration::Separable& costs = device.limits.costs().separable;
  const SeparableOperand& operand = program.operand();
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const bool line = domain.dimensions == 1, space = domain.dimensions == 3;
  SweepWork work;
  work.terms = static_cast<std::size_t>(operand.rank);
  work.instructions = tile_instructions(operand, domain.dimensions, split) / 256;
  work.fma = launched_fma(program, domain, precision, with_source, device.limits) /
             static_cast<double>(domain.box().points());
  work.shared_bytes = static_cast<double>(storage_bytes(precision)) *
                      (2 + operand.x.windows + (line ? 0 : operand.y.windows));
  work.peak = half ? device.mma_half_sparse : device.mma_tf32_sparse;
  work.ceiling = half ? device.ceilings.mma_half_sparse : device.ceilings.mma_tf32_sparse;
  work.shared_seconds = work.shared_bytes / device.shared_bandwidth;
  if (line) {  // one tile per row, and the rest at both ends
    // Beyond six windows lanes have no registers for the inputs of further rows.
    const double slower = half || split ? 1 + costs.line_windows * std::max(0, operand.x.windows - 6) : 1;
    work.seconds =
        slower * work.instructions / (work.peak * (half ? costs.share_line_half : costs.share_line));
    work.memory_cost = half ? costs.memory_line_half : costs.memory_line;
    // The time to read windows does not limit small grids if most windows are one slab.
    work.latency = (half ? costs.latency_line_half : costs.latency_line) -
                   (operand.x.windows > 3 ? costs.latency_line_slab : 0);
    work.source_ahead = true;
    work.is_serial = !half;
  } else if (space) {
    work.seconds = space_seconds(program, domain, precision, device);
    work.memory_cost = costs.memory_space;
    work.source_cost = device.limits.costs().direct.source;
    work.latency = device.limits.costs().direct.fill / 2;
  } else {
    const SeparableTile& tile = program.shape(with_source).tile;
    work.source_ahead = tile.staged_source;
    const bool is_ragged =
        with_source && !tile.staged_source && domain.shape[x_axis] % tile.warp_columns() != 0;
    work.seconds = (is_ragged ? costs.ragged_source : 1) *
                   plane_seconds(program, domain, precision, with_source, device);
    const bool is_narrow =
        !tile.bulk_stores && tile.warp_columns() * static_cast<int>(storage_bytes(precision)) < 64;
    work.memory_cost = is_narrow ? costs.narrow_stores : costs.memory_plane;
    work.source_cost = costs.source_plane;
    work.latency = device.limits.costs().direct.fill;
  }
  return work;
}
}  // namespace

OrNoKernel<SweepWork> separable_work(const Domain& domain, const Stencil& fused, Precision precision,
                                     double dropped, bool with_source, const DeviceRates& device) {
  const auto made = SeparableProgram::make(separate(fused, dropped), precision, device.limits);
  if (const auto* none = std::get_if<NoKernel>(&made)) return *none;
  return work_of(std::get<SeparableProgram>(made), domain, precision, with_source, device);
}

}  // namespace spsolve::cuda
