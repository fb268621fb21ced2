// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"
#include "kernels/cuda/tensor/wgmma_program.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "kernels/sparse/separable_operand.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

/// What the tensor cores are given to do, per point and launch.
struct TensorWork {
  double instructions = 0;
  double fma = 0;  // multiply-adds of these, zeros included
  double shared_bytes = 0;
  double peak = 0;            // instructions/s of the tensor cores
  double seconds = 0;         // of computing alone
  double shared_seconds = 0;  // and of shared memory
  double memory_cost = 1;     // of memory traffic against a copy
  double source_cost = 1;     // of reading a source where it is used, against a copy
  bool source_ahead = false;  // it is fetched with the input
  double latency = 0;         // s of a launch, before the first and after the last results
  bool is_serial = false;     // memory and computing take turns
  bool scales_data = false;   // by the largest magnitude on the whole grid
  std::size_t terms = 0;
};

/// Seconds until a warp has got an instruction, of tensor cores that many warps share: so many times what it
/// takes of a quarter of a multiprocessor.
double instruction_seconds(double waits, double peak, const DeviceModel& device) {
  return waits * cuda::schedulers_of_multiprocessor * device.multiprocessors / peak;
}

double mma_rate(Precision precision, bool sparse, const DeviceModel& device) {
  if (precision == Precision::fp64) return device.mma_fp64;
  if (precision == Precision::tf32) return sparse ? device.mma_tf32_sparse : device.mma_tf32;
  return sparse ? device.mma_half_sparse : device.mma_half;
}

/// How much longer an instruction of a direct sweep takes than the tensor cores do: a warp waits for its
/// results.
double direct_waits(Precision precision, int dimensions, const Calibration::Direct& costs) {
  if (precision == Precision::tf32) return costs.waits_tf32;
  if (storage_bytes(precision) == 2)
    return dimensions == 3   ? costs.waits_half_space
           : dimensions == 2 ? costs.waits_half_plane
                             : costs.waits_half_line;
  return dimensions == 2 ? costs.waits_plane : costs.waits;
}

/// The time that a direct sweep takes of memory, over that of a copy.
double direct_memory_cost(Precision precision, int dimensions, std::size_t taps,
                          const Calibration::Direct& costs) {
  if (dimensions == 3) return costs.memory_space;
  if (dimensions == 2) return costs.memory_plane;
  if (precision == Precision::fp64) return costs.memory_line_fp64;
  if (storage_bytes(precision) > 2 || taps > 25) return costs.memory_line_long;
  return taps > 15 ? costs.memory_line_middle : costs.memory_line_short;
}

/// Direct layouts on the tiles of the kernel (kernels/cuda/mma_sweep.cuh). However many warps share the
/// tensor cores, each waits for its own results: blocks take whole waves of marches, step by step.
TensorWork direct_work(const cuda::MmaProgram& program, const Stencil& fused, const Domain& domain,
                       Precision precision, Layout layout, cuda::TensorCores cores, bool with_source,
                       const DeviceModel& device) {
  const Calibration::Direct& costs = device.costs().direct;
  const bool sparse = cores == cuda::TensorCores::sparse;
  const cuda::MmaTile& tile = program.tile();
  const cuda::MmaProgram::Work step = program.work();
  const bool fp64 = precision == Precision::fp64, line = domain.dimensions == 1;
  const auto axes = cuda::grid_axes(domain);
  const auto extent = [&](int k) { return domain.shape[axes[k]]; };
  const std::int64_t multiprocessors = limits_of(device).multiprocessors;
  const std::int64_t resident =
      multiprocessors *
      std::clamp<std::int64_t>(limits_of(device).shared_bytes / (program.shared_bytes() + 1024), 1,
                               tile.blocks_per_multiprocessor);
  const std::int64_t tiles = ceil_div(extent(cuda::column_axis), program.block_columns()) *
                             ceil_div(extent(cuda::row_axis), program.block_rows());
  const std::int64_t chunks = ceil_div(extent(cuda::plane_axis), program.operand().tile[0]);
  const auto slices = static_cast<std::int64_t>(program.operand().slices.size());
  const std::int64_t chunks_per_block =
      tile.group ? tile.group : cuda::steps_per_block(chunks, tiles, resident, slices + 1);
  const std::int64_t blocks = tiles * ceil_div(chunks, chunks_per_block);
  const auto steps = static_cast<double>(ceil_div(blocks, resident) * (chunks_per_block + slices - 1));
  const auto warps =
      static_cast<double>(ceil_div(std::min(blocks, resident), multiprocessors) * program.threads() / 32);

  const double points = static_cast<double>(domain.box().points());
  const double outputs = static_cast<double>(volume(program.operand().tile)) * program.tiles_per_block();
  const std::size_t taps = fused.taps().size();
  TensorWork work;
  work.instructions = program.instructions() / outputs;
  work.fma = step.fma / outputs;
  work.shared_bytes = step.shared_bytes / (outputs * tile.blocks_x * tile.blocks_y);
  work.peak = mma_rate(precision, sparse, device);
  const bool spills = with_source && precision == Precision::fp32;
  // A group of chunks has all of its products at once, of as many slices as reach it. Of more warps than wait
  // for each other the tensor cores have enough.
  const double waits = direct_waits(precision, domain.dimensions, costs),
               executed = tile.group
                              ? static_cast<double>(tile.group) / static_cast<double>(tile.group + slices - 1)
                              : 1.0;
  const double instruction =
      instruction_seconds(tile.group ? std::max(waits, warps / cuda::schedulers_of_multiprocessor) : waits,
                          work.peak, device) *
      executed * (step.unrolled ? 1 : costs.loop_cost) * (spills ? costs.spill_cost : 1);
  const double between = !line ? costs.block_step : fp64 ? costs.line_block_fp64 : costs.line_block;
  work.seconds = steps * (step.instructions * instruction + between) / points;
  if (line && precision == Precision::fp32 && taps > 31)
    work.seconds = std::max(work.seconds, costs.long_line * work.instructions / work.peak);
  work.shared_seconds = steps * warps * step.shared_bytes * costs.bank_conflicts * device.multiprocessors /
                        device.shared_bandwidth / points;
  work.memory_cost = direct_memory_cost(precision, domain.dimensions, taps, costs);
  work.source_cost = line && layout == Layout::morph ? costs.source_line : costs.source;
  work.latency = line ? costs.fill / 2 : costs.fill;
  return work;
}

/// Points that the blocks of a sweep with windows execute for one of the grid: whole waves of marches. In 16
/// bits rows before the first result take as long as others, in 32 they are converted meanwhile.
double windows_executed(const cuda::WgmmaProgram& program, const Index3& shape, bool half,
                        const DeviceModel& device) {
  const std::int64_t rows = program.tile().y_groups * cuda::wgmma_tile_rows,
                     columns = program.tile().x_groups * cuda::wgmma_group_columns,
                     resident = limits_of(device).multiprocessors,
                     warm_up = ceil_div<std::int64_t>(program.window().rows, rows) + 1;
  const std::int64_t strips = ceil_div(shape[x_axis], columns), tiles = ceil_div(shape[y_axis], rows),
                     length = cuda::steps_per_block(tiles, strips, resident, warm_up),
                     blocks = ceil_div(strips * ceil_div(tiles, length), resident) * resident;
  return static_cast<double>(blocks * (length + (half ? warm_up : 0)) * columns * rows) /
         static_cast<double>(volume(shape));
}

/// Rows of 32 columns that stay in shared memory, for tiles of 4 x 16 outputs (kernels/cuda/wgmma_sweep.cuh).
TensorWork windowed_work(const cuda::WgmmaProgram& program, const Domain& domain, Precision precision,
                         const DeviceModel& device) {
  const Calibration::Windowed& costs = device.costs().windowed;
  const InputWindow& window = program.window();
  const double rows = window.rows, taken = rows - InputWindow::tile_rows + 1;
  const bool half = storage_bytes(precision) == 2, pairs = program.pairs();
  const double products = pairs ? 3 : 1, element = pairs ? 2 : static_cast<double>(storage_bytes(precision));
  TensorWork work;
  work.fma = window.parts * rows * InputWindow::columns * products;
  work.instructions = work.fma / (16 * 8 * (element == 2 ? 32 : 16));
  work.shared_bytes = element * (2 + products * rows / InputWindow::tile_rows);
  work.peak = device.wgmma_tf32_sparse;
  // Measured on 10240 x 10240 points: conversions of data, then the instructions.
  const double few_registers = rows > 16 ? costs.pairs_shared : 0;  // some rows share theirs
  const double seconds = pairs  ? costs.pairs + costs.pairs_row * rows + few_registers
                         : half ? (window.parts == 1 ? costs.half + costs.half_row * rows
                                                     : costs.half_wide + costs.half_wide_row * rows)
                                : window.parts * (costs.tf32 + costs.tf32_row * taken);
  work.seconds = seconds * device.costs().rates.wgmma_tf32_sparse / device.wgmma_tf32_sparse *
                 windows_executed(program, domain.shape, half, device) /
                 windows_executed(program, {1, 10240, 10240}, half, device);
  work.shared_seconds = work.shared_bytes / device.shared_bandwidth;
  work.memory_cost = costs.memory;
  work.source_cost = device.costs().direct.source_wide;
  work.latency = device.costs().direct.fill;
  work.scales_data = pairs;
  return work;
}

/// Of an instruction of a separable sweep of a plane in 16 bits. A warp that has its scheduler to itself
/// waits less, least where groups or factors give it others to go on with; four groups wait for registers.
double half_plane_waits(int windows, int x_rank, const cuda::SeparableTile& tile,
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

/// The same with what spills: many windows with many factors.
double half_plane_cost(int windows, int x_rank, const cuda::SeparableTile& tile,
                       const Calibration::Separable& costs) {
  const double waits = half_plane_waits(windows, x_rank, tile, costs);
  if (windows > 5 && x_rank > 1) return costs.many_spills * waits;
  return windows > 3 ? waits * (1 + costs.window_spills * std::max(0, windows + x_rank - 7)) : waits;
}

/// The same in 32 bits; `split`: of sums of three products.
double word_plane_cost(int windows, int x_rank, const cuda::SeparableTile& tile, bool split,
                       const Calibration::Separable& costs) {
  if (split)
    return (windows > 2 ? costs.split_windows : 1.0) * std::max(1.0, x_rank * windows * tile.groups / 4.0);
  const double waits = tile.groups > 1               ? costs.word_groups
                       : x_rank < costs.most_factors ? costs.word_few_factors
                                                     : costs.word_many_factors;
  return waits *
         (windows > 2 ? costs.word_windows + costs.word_windows_factor * std::max(0, x_rank - 2) : 1.0);
}

/// Seconds per point of a separable sweep of a plane, on the tiles of the kernel
/// (kernels/cuda/separable.cuh): whole waves of strips, block of rows by block of rows. Rows between two of
/// these are kept in registers.
double plane_seconds(const cuda::SeparableProgram& program, const Domain& domain, Precision precision,
                     bool with_source, const DeviceModel& device) {
  const Calibration::Separable& costs = device.costs().separable;
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const SeparableOperand& operand = program.operand();
  const cuda::SeparableShape& shape = program.shape(with_source);
  const cuda::SeparableTile& tile = shape.tile;
  const std::int64_t columns = ceil_div(domain.shape[x_axis], tile.columns()), rows = domain.shape[y_axis];
  const std::int64_t resident = tile.blocks_per_multiprocessor * limits_of(device).multiprocessors;
  const std::int64_t steps = cuda::steps_per_strip(rows, shape.block_rows, columns, resident);
  const std::int64_t strips = ceil_div(rows, steps * shape.block_rows + cuda::row_granule);
  const double instructions = 2.0 * operand.per_window() * (split ? 3 : 1) * tile.groups * shape.block_rows /
                              16 * (operand.x_rank * operand.x.windows + operand.rank * operand.y.windows);
  const int windows = operand.y.windows;
  const double slower = (half ? half_plane_cost(windows, operand.x_rank, tile, costs)
                              : word_plane_cost(windows, operand.x_rank, tile, split, costs)) *
                        (operand.x_rank > costs.most_factors ? costs.factor_spills : 1.0);
  return static_cast<double>(ceil_div(strips * columns, resident) * (steps + 1)) * instructions * slower *
         instruction_seconds(half ? costs.waits_half : costs.waits_word,
                             half ? device.mma_half_sparse : device.mma_tf32_sparse, device) /
         static_cast<double>(domain.box().points());
}

/// Seconds per point of a separable sweep in 3D (kernels/cuda/separable_planes.cuh): whole waves of marches,
/// plane by plane. Of a plane a warp has instructions for 16 x 16 points, multiply-adds along z, and its
/// input in shared memory.
double space_seconds(const cuda::SeparableProgram& program, const Domain& domain, Precision precision,
                     const DeviceModel& device) {
  const Calibration::Separable& costs = device.costs().separable;
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const SeparableOperand& operand = program.operand();
  const std::int64_t resident = limits_of(device).multiprocessors, warps = program.tile().warps_y;
  const std::int64_t tiles = ceil_div<std::int64_t>(domain.shape[x_axis], program.tile().columns()) *
                             ceil_div(domain.shape[y_axis], cuda::row_granule * warps);
  const std::int64_t planes = domain.shape[z_axis], warm_up = operand.z_taps + 1;
  const std::int64_t length = cuda::steps_per_block(planes, tiles, resident, warm_up);
  const std::int64_t waves = ceil_div(tiles * ceil_div(planes, length), resident);
  const double instructions =
      2.0 * operand.per_window() * (split ? 3 : 1) * (2 * operand.x_rank * operand.x.windows + operand.rank);
  const double slot = 32 * cuda::schedulers_of_multiprocessor * device.multiprocessors / device.scalar_fp32;
  const double seconds =
      instructions * instruction_seconds(half ? costs.space_half : costs.space_word,
                                         half ? device.mma_half_sparse : device.mma_tf32_sparse, device) +
      8.0 * operand.z_rank * operand.z_taps * (split ? costs.space_sums_split : costs.space_sums) * slot +
      costs.staged_byte * static_cast<double>(storage_bytes(precision));
  return static_cast<double>(waves * (length + warm_up)) *
         (device.costs().direct.block_step + static_cast<double>(warps) * seconds) /
         (1 + (device.costs().launch.fastest_clock - 1) * (1 - filled(domain, costs.space_enough_points))) /
         static_cast<double>(domain.box().points());
}

/// Passes along x and y on tiles of 16 x 16 outputs with windows of 32 points: two instructions per term,
/// pass and window, twice as many for tf32, and three products of two tf32 terms for fp32.
TensorWork separable_work(const cuda::SeparableProgram& program, const Domain& domain, Precision precision,
                          bool with_source, const DeviceModel& device) {
  const Calibration::Separable& costs = device.costs().separable;
  const SeparableOperand& operand = program.operand();
  const bool half = storage_bytes(precision) == 2, split = precision == Precision::fp32;
  const bool line = domain.dimensions == 1, space = domain.dimensions == 3;
  const double windows = operand.x_rank * operand.x.windows + (line ? 0 : operand.rank * operand.y.windows);
  TensorWork work;
  work.terms = static_cast<std::size_t>(operand.rank);
  work.instructions = 2.0 * windows * operand.per_window() * (split ? 3 : 1) / 256;
  work.fma = work.instructions * 16 * 8 * (half ? 32 : 16);
  work.shared_bytes = static_cast<double>(storage_bytes(precision)) *
                      (2 + operand.x.windows + (line ? 0 : operand.y.windows));
  work.peak = half ? device.mma_half_sparse : device.mma_tf32_sparse;
  work.shared_seconds = work.shared_bytes / device.shared_bandwidth;
  if (line) {  // as rows of one tile, and of what is left at both ends
    work.seconds = work.instructions / (work.peak * (half ? costs.share_line_half : costs.share_line));
    work.memory_cost = half ? costs.memory_line_half : costs.memory_line;
    // Where most windows are one slab, reading them does not limit small grids.
    work.latency = (half ? costs.latency_line_half : costs.latency_line) -
                   (operand.x.windows > 3 ? costs.latency_line_slab : 0);
    work.source_ahead = true;
    work.is_serial = !half;
  } else if (space) {
    work.fma += static_cast<double>(operand.z_rank * operand.z_taps);
    work.seconds = space_seconds(program, domain, precision, device);
    work.memory_cost = costs.memory_space;
    work.source_cost = device.costs().direct.source;
    work.latency = device.costs().direct.fill / 2;
  } else {
    const cuda::SeparableTile& tile = program.shape(with_source).tile;
    work.source_ahead = tile.staged_source;
    const bool is_ragged =
        with_source && !tile.staged_source && domain.shape[x_axis] % tile.warp_columns() != 0;
    work.seconds = (is_ragged ? costs.ragged_source : 1) *
                   plane_seconds(program, domain, precision, with_source, device);
    const bool is_narrow =
        !tile.bulk_stores && tile.warp_columns() * static_cast<int>(storage_bytes(precision)) < 64;
    work.memory_cost = is_narrow ? costs.narrow_stores : costs.memory_plane;
    work.source_cost = costs.source_plane;
    work.latency = device.costs().direct.fill;
  }
  return work;
}

/// The part of a grid that a sweep takes: what is further from walls than it reaches.
Domain inside(Domain domain, const Index3& reach) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (!domain.periodic(axis))
      domain.shape[axis] = std::max<std::int64_t>(1, domain.shape[axis] - 2 * reach[axis]);
  return domain;
}

/// What `count` makes of a program, if there is one.
template <class Program, class Count>
MadeOr<TensorWork> work_with(const MadeOr<Program>& program, Count&& count) {
  if (const auto* none = std::get_if<NoKernel>(&program)) return *none;
  return count(std::get<Program>(program));
}

/// What a sweep with fused weights over the points of `core` does, by the kernel that does it.
MadeOr<TensorWork> work_of(const Problem& problem, const Method& method, const Stencil& fused,
                           const Domain& core, const DeviceModel& device) {
  const Precision precision = problem.precision;
  const Layout layout = method.layout.value();
  const cuda::BlockLimits limits = limits_of(device);
  const cuda::TensorCores cores = cores_of(method);
  if (layout == Layout::separable)
    return work_with(cuda::SeparableProgram::make(separate(fused, method.dropped), precision, limits),
                     [&](const cuda::SeparableProgram& program) {
                       return separable_work(program, core, precision, problem.has_source, device);
                     });
  if (cuda::takes_wgmma(core.dimensions, fused, precision, layout, cores, limits))
    return work_with(
        cuda::WgmmaProgram::make(fused, precision, limits),
        [&](const cuda::WgmmaProgram& program) { return windowed_work(program, core, precision, device); });
  return work_with(cuda::MmaProgram::make(core, fused, precision, layout, cores, limits),
                   [&](const cuda::MmaProgram& program) {
                     return direct_work(program, fused, core, precision, layout, cores, problem.has_source,
                                        device);
                   });
}

/// Paper 003, section 4.1: bounds of both units at this depth, and equation 19. `peak`: multiply-adds/s of
/// the tensor cores.
void place_in_sweet_spot(const Problem& problem, const DeviceModel& device, double peak,
                         Candidate& candidate) {
  Problem everywhere = problem;
  everywhere.domain.faces = {};
  Candidate exact{Method(candidate.fuse)};
  evaluate_scalar(everywhere, device, exact);
  const bool scalar_computes = exact.compute_seconds > exact.memory_seconds;
  const bool tensor_computes = candidate.compute_seconds > candidate.memory_seconds;
  candidate.scenario = 1 + 2 * scalar_computes + tensor_computes;
  candidate.peak_ratio = peak / device.scalar_rate(problem.precision);
  candidate.in_sweet_spot =
      candidate.scenario == 3 ||
      (candidate.scenario == 4 && candidate.redundancy < candidate.sparsity * candidate.peak_ratio);
}

}  // namespace

void evaluate_tensor(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const Stencil fused = fuse_steps(problem.stencil, candidate.fuse);
  const Domain core = inside(problem.domain, candidate.fuse * problem.stencil.radius());
  const auto found = work_of(problem, candidate, fused, core, device);
  if (const auto* none = std::get_if<NoKernel>(&found)) {
    candidate.no_kernel = none->why;
    candidate.seconds = std::numeric_limits<double>::infinity();
    return;
  }
  const auto& work = std::get<TensorWork>(found);
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const auto taps = static_cast<double>(problem.stencil.taps().size());
  const auto fused_taps = static_cast<double>(fused.taps().size());
  const double steps = candidate.fuse, points = static_cast<double>(problem.domain.box().points());
  candidate.terms = work.terms;
  const double source = problem.has_source ? std::max(element, 4.0) : 0.0;
  candidate.bytes = (2 * element + source) / steps;
  candidate.fma = work.fma / steps;
  candidate.redundancy = fused_taps / (steps * taps);
  candidate.sparsity = fused_taps / work.fma;
  if (!device.gpu) {  // emulated, some 2e8 multiply-adds/s
    candidate.compute_seconds = candidate.fma / device.costs().cpu.emulated_fma;
    candidate.memory_seconds = candidate.bytes / device.bandwidth;
    candidate.seconds = candidate.compute_seconds;
    return;
  }
  const double taken = static_cast<double>(core.box().points()) / points / steps;
  const double fetched = 2 * element + (work.source_ahead ? source : 0);
  candidate.memory_seconds = fetched * work.memory_cost / device.bandwidth * taken;
  candidate.compute_seconds = work.seconds * taken;
  candidate.shared_seconds = work.shared_seconds * taken;
  const double sweep =
      work.latency / (points * steps) +
      (work.source_ahead ? 0 : source * work.source_cost / device.bandwidth / steps) +
      (work.is_serial ? candidate.memory_seconds + candidate.compute_seconds
                      : overlapped(device.costs(), {candidate.memory_seconds, candidate.compute_seconds,
                                                    candidate.shared_seconds}));
  const auto walls = std::count_if(core.faces.begin(), core.faces.end(),
                                   [](const auto& faces) { return faces[0].kind != BoundaryKind::periodic; });
  const double scale =
      work.scales_data ? 2 * static_cast<double>(walls) * device.costs().bands.largest / (points * steps) : 0;
  const double bands = band_seconds(problem, device, candidate.fuse) / (points * steps);
  // At the same time, where one leaves room for the other: the ends of a line take two blocks.
  const double room = problem.domain.dimensions == 1
                          ? device.costs().bands.hidden_line
                          : 1 - filled(problem.domain, device.costs().bands.enough_points);
  candidate.seconds = sweep + scale + bands - room * std::min(sweep, bands);
  candidate.wall_seconds = candidate.seconds - sweep - scale;
  place_in_sweet_spot(problem, device, work.peak * work.fma / work.instructions, candidate);
}

}  // namespace spsolve
