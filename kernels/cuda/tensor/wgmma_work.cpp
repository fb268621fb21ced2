// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/sweep_work.hpp"
#include "kernels/cuda/tensor/wgmma_program.hpp"

namespace spsolve::cuda {
namespace {

/// Describes how the tiles of a sweep with windows cover a plane.
struct WindowTiles {
  std::int64_t rows, columns;  // points of a tile
  std::int64_t down, strips;

  WindowTiles(const WgmmaProgram& program, const Index3& shape)
      : rows(program.tile().y_groups * wgmma_tile_rows),
        columns(program.tile().x_groups * wgmma_group_columns),
        down(ceil_div(shape[y_axis], rows)),
        strips(ceil_div(shape[x_axis], columns)) {}
  /// Returns the points of all tiles.
  std::int64_t points() const { return rows * columns * down * strips; }
};

/// Returns how many points the blocks of a sweep with windows compute per point of the grid, in whole waves
/// of marches. In 16 bits, rows before the first result take as long as others. In 32 bits they take no time
/// of their own, since they are converted while others are multiplied.
double windows_executed(const WgmmaProgram& program, const Index3& shape, bool half,
                        const DeviceRates& device) {
  const WindowTiles tiles(program, shape);
  const std::int64_t resident = device.limits.multiprocessors,
                     warm_up = ceil_div<std::int64_t>(program.window().rows, tiles.rows) + 1,
                     length = balanced_stretch(tiles.down, tiles.strips, resident, warm_up),
                     blocks = ceil_div(tiles.strips * ceil_div(tiles.down, length), resident) * resident;
  return static_cast<double>(blocks * (length + (half ? warm_up : 0)) * tiles.columns * tiles.rows) /
         static_cast<double>(volume(shape));
}

/// Returns the work on rows of 32 columns that stay in shared memory, for tiles of 4 x 16 outputs
/// (wgmma_sweep.cuh).
SweepWork work_of(const WgmmaProgram& program, const Domain& domain, Precision precision,
                  const DeviceRates& device) {
  const Calibration::Windowed& costs = device.limits.costs().windowed;
  const InputWindow& window = program.window();
  const double rows = window.rows, taken = rows - InputWindow::tile_rows + 1;
  const bool half = storage_bytes(precision) == 2, pairs = program.pairs();
  const double products = pairs ? 3 : 1, element = pairs ? 2 : static_cast<double>(storage_bytes(precision));
  SweepWork work;
  const double fma_of_output = window.parts * rows * InputWindow::columns * products;
  work.fma = fma_of_output * static_cast<double>(WindowTiles(program, domain.shape).points()) /
             static_cast<double>(domain.box().points());
  const double dense = program.is_dense() ? 2 : 1;  // instructions of half the k take as long
  work.instructions = dense * fma_of_output / (16 * 8 * (element == 2 ? 32 : 16));
  work.shared_bytes = element * (2 + products * rows / InputWindow::tile_rows);
  work.peak = device.wgmma_tf32_sparse;
  work.ceiling = element != 2         ? device.ceilings.wgmma_tf32_sparse
                 : program.is_dense() ? device.ceilings.wgmma_half
                                      : device.ceilings.wgmma_half_sparse;
  // The constants are measured on 10240 x 10240 points: conversions of data, then the instructions.
  const double few_registers = rows > 16 ? costs.pairs_shared : 0;  // some rows share theirs
  const double seconds = pairs  ? costs.pairs + costs.pairs_row * rows + few_registers
                         : half ? (window.parts == 1 ? costs.half + dense * costs.half_row * rows
                                                     : costs.half_wide + costs.half_wide_row * rows)
                                : window.parts * (costs.tf32 + costs.tf32_row * taken);
  work.seconds = seconds * device.limits.costs().rates.wgmma_tf32_sparse / device.wgmma_tf32_sparse *
                 windows_executed(program, domain.shape, half, device) /
                 windows_executed(program, {1, 10240, 10240}, half, device);
  work.shared_seconds = work.shared_bytes / device.shared_bandwidth;
  work.memory_cost = costs.memory;
  work.source_cost = device.limits.costs().direct.source_wide;
  work.latency = device.limits.costs().direct.fill;
  work.scales_data = pairs;
  return work;
}
}  // namespace

OrNoKernel<SweepWork> wgmma_work(const Domain& domain, const Stencil& fused, Precision precision,
                                 TensorCores cores, const DeviceRates& device) {
  const auto made = WgmmaProgram::make(fused, precision, device.limits, {}, cores);
  if (const auto* none = std::get_if<NoKernel>(&made)) return *none;
  return work_of(std::get<WgmmaProgram>(made), domain, precision, device);
}

}  // namespace spsolve::cuda
