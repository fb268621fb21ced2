// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/cuda/tensor/sweep_work.hpp"

namespace spsolve::cuda {
namespace {

double mma_rate(Precision precision, bool sparse, const DeviceRates& device) {
  if (precision == Precision::fp64) return device.mma_fp64;
  if (precision == Precision::tf32) return sparse ? device.mma_tf32_sparse : device.mma_tf32;
  return sparse ? device.mma_half_sparse : device.mma_half;
}

/// Returns the highest rate in flop/s of the instructions for a precision. fp32 is computed by products of
/// bf16, which run as fp16 does.
double mma_ceiling(Precision precision, bool sparse, const Calibration::PeakRates& ceilings) {
  if (precision == Precision::fp64) return ceilings.mma_fp64;
  if (precision == Precision::tf32) return sparse ? ceilings.mma_tf32_sparse : ceilings.mma_tf32;
  return sparse ? ceilings.mma_half_sparse : ceilings.mma_half;
}

/// Returns by which factor an instruction of a direct sweep takes longer than the tensor cores do, since a
/// warp waits for its results.
double direct_waits(Precision precision, int dimensions, const Calibration::Direct& costs) {
  if (precision == Precision::tf32) return costs.waits_tf32;
  if (storage_bytes(precision) == 2)
    return dimensions == 3   ? costs.waits_half_space
           : dimensions == 2 ? costs.waits_half_plane
                             : costs.waits_half_line;
  return dimensions == 2 ? costs.waits_plane : costs.waits;
}

/// Returns the time that the memory traffic of a direct sweep takes, divided by that of a copy of as many
/// bytes.
double direct_memory_cost(Precision precision, int dimensions, std::size_t taps,
                          const Calibration::Direct& costs) {
  if (dimensions == 3) return costs.memory_space;
  if (dimensions == 2) return costs.memory_plane;
  if (precision == Precision::fp64) return costs.memory_line_fp64;
  if (storage_bytes(precision) > 2 || taps > 25) return costs.memory_line_long;
  return taps > 15 ? costs.memory_line_middle : costs.memory_line_short;
}

/// Describes the launch of a sweep. `chunks` counts the chunks of input that a multiprocessor takes one after
/// the other, in whole waves of blocks, and `warps` the warps that it runs meanwhile. `multiplied` counts the
/// chunks that all warps together multiply by all slices of the weights, those before the first results
/// included.
struct SweepLaunch {
  double chunks, warps, multiplied;
};
SweepLaunch launch_of(const MmaProgram& program, const Domain& domain, const BlockLimits& limits) {
  const MmaTile& tile = program.tile();
  const auto axes = grid_axes(domain);
  const auto extent = [&](int k) { return domain.shape[axes[k]]; };
  const std::int64_t multiprocessors = limits.multiprocessors;
  const std::int64_t resident =
      multiprocessors * std::clamp<std::int64_t>(limits.shared_bytes / (program.shared_bytes() + 1024), 1,
                                                 tile.blocks_per_multiprocessor);
  const std::int64_t tiles = ceil_div(extent(column_axis), program.block_columns()) *
                             ceil_div(extent(row_axis), program.block_rows());
  const std::int64_t chunks = ceil_div(extent(plane_axis), program.operand().tile[0]);
  const auto slices = static_cast<std::int64_t>(program.operand().slices.size());
  const std::int64_t chunks_per_block =
      tile.group ? tile.group : balanced_stretch(chunks, tiles, resident, slices + 1);
  const std::int64_t stretches = ceil_div(chunks, chunks_per_block), blocks = tiles * stretches,
                     warps = program.threads() / warp_lanes;
  // A group skips slices that reach none of its outputs.
  const std::int64_t multiplied =
      tile.group ? stretches * chunks_per_block : chunks + stretches * (slices - 1);
  return {static_cast<double>(ceil_div(blocks, resident) * (chunks_per_block + slices - 1)),
          static_cast<double>(ceil_div(std::min(blocks, resident), multiprocessors) * warps),
          static_cast<double>(tiles * warps * multiplied)};
}

/// Returns the work of a sweep with a direct layout on the tiles of the kernel (mma_sweep.cuh). The launch
/// takes whole waves of blocks, and a block one step after the other: however many warps share the tensor
/// cores, each waits for its own results.
SweepWork work_of(const MmaProgram& program, const Stencil& fused, const Domain& domain, Precision precision,
                  Layout layout, TensorCores cores, bool with_source, const DeviceRates& device) {
  const Calibration::Direct& costs = device.limits.costs().direct;
  const bool sparse = cores == TensorCores::sparse;
  const MmaTile& tile = program.tile();
  const MmaProgram::ChunkWork step = program.work();
  const bool fp64 = precision == Precision::fp64, line = domain.dimensions == 1;
  const auto slices = static_cast<std::int64_t>(program.operand().slices.size());
  const SweepLaunch launch = launch_of(program, domain, device.limits);
  const double points = static_cast<double>(domain.box().points());
  const double outputs = static_cast<double>(volume(program.operand().tile)) * program.tiles_per_block();
  const std::size_t taps = fused.taps().size();
  SweepWork work;
  work.instructions = program.instructions() / outputs;
  work.fma = launch.multiplied * tile.blocks_x * tile.blocks_y * step.fma / points;
  work.shared_bytes = step.shared_bytes / (outputs * tile.blocks_x * tile.blocks_y);
  work.peak = mma_rate(precision, sparse, device);
  work.ceiling = mma_ceiling(precision, sparse, device.ceilings);
  const bool spills = with_source && precision == Precision::fp32;
  // A group multiplies a chunk of input by all slices that reach the group. The tensor cores are busy if a
  // scheduler has more warps than `waits`.
  const double waits = direct_waits(precision, domain.dimensions, costs),
               executed = tile.group
                              ? static_cast<double>(tile.group) / static_cast<double>(tile.group + slices - 1)
                              : 1.0;
  const double instruction =
      instruction_seconds(tile.group ? std::max(waits, launch.warps / schedulers_of_multiprocessor) : waits,
                          work.peak, device) *
      executed * (step.unrolled ? 1 : costs.loop_cost) * (spills ? costs.spill_cost : 1);
  // In fp64 in 2D the warps keep the tensor cores busy for every k.
  constexpr double fma_of_instruction = 16 * 8 * 16;
  const double chunk = fp64 && domain.dimensions == 2
                           ? launch.warps * step.fma * tile.blocks_x * tile.blocks_y * executed *
                                 device.limits.multiprocessors /
                                 (costs.busy_plane_fp64 * work.peak * fma_of_instruction)
                           : step.instructions * instruction;
  const double between = !line ? costs.block_step : fp64 ? costs.line_block_fp64 : costs.line_block;
  work.seconds = launch.chunks * (chunk + between) / points;
  if (line && precision == Precision::fp32 && taps > 31)
    work.seconds = std::max(work.seconds, costs.long_line * work.instructions / work.peak);
  work.shared_seconds = launch.chunks * launch.warps * step.shared_bytes * costs.bank_conflicts *
                        device.limits.multiprocessors / device.shared_bandwidth / points;
  work.memory_cost = direct_memory_cost(precision, domain.dimensions, taps, costs);
  work.source_cost = line && layout == Layout::morph ? costs.source_line : costs.source;
  work.latency = line ? costs.fill / 2 : costs.fill;
  return work;
}

}  // namespace

OrNoKernel<SweepWork> mma_work(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                               TensorCores cores, bool with_source, const DeviceRates& device) {
  const auto made = MmaProgram::make(domain, fused, precision, layout, cores, device.limits);
  if (const auto* none = std::get_if<NoKernel>(&made)) return *none;
  return work_of(std::get<MmaProgram>(made), fused, domain, precision, layout, cores, with_source, device);
}

}  // namespace spsolve::cuda
