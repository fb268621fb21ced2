// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cuda/launch_shape.hpp"
#include "kernels/sparse/emulated_sweep.hpp"
#include "kernels/sparse/separable_operand.hpp"
#include "kernels/sparse/sliced_operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "solver/model_parts.hpp"

namespace spsolve {
namespace {

/// What the tensor cores are given to do, per point and launch.
struct TensorWork {
  double instructions = 0;
  double fma = 0;  // multiply-adds of these, zeros included
  double shared_bytes = 0;
  double rate = 0;         // instructions/s that kernels reach
  double peak = 0;         // and the tensor cores do
  double memory_cost = 1;  // of memory traffic against a copy
  double filter_fma = 0;   // on CUDA cores, as issue slots
  double latency = 0;      // s, before the first and after the last results
  bool is_serial = false;  // memory and computing take turns
  std::size_t terms = 0;
  double padding = 1;  // points executed for one of the grid, against large grids
};

/// Points that blocks marching along planes execute for one of the grid: tiles beyond its edges, planes
/// before the first result, multiprocessors that idle at the end.
double marched(const Index3& shape, std::int64_t columns, std::int64_t rows, std::int64_t warm_up,
               std::int64_t resident) {
  const std::int64_t tiles = pieces(shape[x_axis], columns) * pieces(shape[y_axis], rows);
  const std::int64_t length = cuda::steps_per_block(shape[z_axis], tiles, resident, warm_up);
  const std::int64_t blocks = pieces(tiles * pieces(shape[z_axis], length), resident) * resident;
  return static_cast<double>(blocks * (length + warm_up) * columns * rows) /
         static_cast<double>(volume(shape));
}

/// The same against 1024^3, where rates of kernels were measured.
double march_padding(const Index3& shape, std::int64_t columns, std::int64_t rows, std::int64_t warm_up,
                     double blocks_per_multiprocessor, const DeviceModel& device) {
  const auto resident = static_cast<std::int64_t>(blocks_per_multiprocessor * device.multiprocessors);
  return marched(shape, columns, rows, warm_up, resident) /
         marched({1024, 1024, 1024}, columns, rows, warm_up, resident);
}

/// The stencil with its axes in the order in which kernels march: planes, rows, columns.
Stencil in_march_axes(const Stencil& stencil, int dimensions) {
  if (dimensions == 3) return stencil;
  const Index3 radius = stencil.radius();
  return {{2 * radius[y_axis] + 1, 1, 2 * radius[x_axis] + 1},
          dense_weights(stencil),
          {radius[y_axis], 0, radius[x_axis]}};
}

/// How direct layouts run, as measured on H200 (docs/kernels-tensor.md, docs/kernels-mma.md).
struct DirectSweep {
  int dimensions;
  Precision precision;
  bool sparse;
  std::size_t taps, slices;

  bool fp64() const { return precision == Precision::fp64; }
  bool split() const { return precision == Precision::fp32; }
  bool half() const { return storage_bytes(precision) == 2; }
  /// Six products of bf16, or one of tf32 and two of bf16 that take as long as four.
  double products() const { return !split() ? 1 : takes_mixed_split(taps) ? 4 : 6; }
  /// Beyond what rotates in registers, planes are taken in groups.
  bool grouped() const { return slices > (fp64() ? 8u : dimensions == 2 ? 16u : 11u); }

  /// Of the rate of tensor cores.
  double share() const {
    const bool many_planes = dimensions == 3 && slices > 7 && !grouped() && !fp64();  // tiles lack registers
    const bool long_line = dimensions == 1 && taps > 31 && !fp64();                   // two steps per window
    const double splitting = !split() ? 1.0 : dimensions == 1 ? 5.0 : products() == 4 ? 1.6 : 1.25;
    const double multiplying = fp64()                         ? 0.75
                               : precision == Precision::tf32 ? 0.32
                               : !sparse                      ? 0.55
                               : dimensions == 3              ? 0.9
                                                              : 1.0;
    return multiplying / splitting / (many_planes ? 1.4 : 1.0) / (grouped() ? 1.65 : 1.0) /
           (long_line ? 2.5 : 1.0);
  }

  /// Of memory traffic against a copy.
  double memory_cost() const {
    if (dimensions == 3) return fp64() ? 1.4 : 1.19;
    if (dimensions == 2) return fp64() ? 1.2 : grouped() ? 1.8 : 1.19;
    if (fp64()) return 1.1;
    if (split()) return 1.35;
    if (!half()) return sparse ? 2.2 : 1.8;
    return (sparse ? 1.0 : 1.3) * (taps <= 15 ? 1.13 : taps <= 25 ? 1.3 : 1.55);
  }

  /// Seconds before the first and after the last results.
  double latency(const Domain& domain) const {
    const bool marching = dimensions == 2 && split();
    return (marching ? 15e-6 : 2.2e-6) * (1 - filled(domain, marching ? 1e7 : 1e6)) +
           (dimensions == 1 && half() ? 3e-6 : 0.0);
  }

  /// As kernels/cuda/mma_tile.cpp cuts it.
  double padding(const Index3& shape, std::int64_t rows_of_tile, const DeviceModel& device) const {
    if (dimensions < 3) return 1;
    const std::int64_t columns = fp64() || precision == Precision::tf32 ? 64 : slices <= 5 ? 256 : 128;
    const double resident = slices <= 3 ? 3 : slices <= 5 ? 2 : 1;
    return march_padding(shape, columns, (slices <= 5 ? 4 : 8) * rows_of_tile,
                         static_cast<std::int64_t>(slices) + 1, resident, device);
  }
};

/// Instructions per tile group of 128 outputs (kernels/cuda/mma_program.hpp): of every slice those steps of
/// the window that hold weights.
TensorWork direct_work(const Stencil& fused, const Domain& domain, Precision precision, Layout layout,
                       bool sparse, const DeviceModel& device) {
  const int dimensions = domain.dimensions;
  const bool fp64 = precision == Precision::fp64;
  const Precision element = operand_element(precision);
  const bool half = storage_bytes(element) == 2;
  const Stencil turned = in_march_axes(fused, dimensions);
  const SlicedOperand sliced = fp64 ? slice_dense(turned, dimensions > 1, dimensions == 3)
                                    : slice_sparse(turned, layout, element, dimensions == 3);
  const int registers = b_registers(sliced, element), step = sparse || fp64 ? 4 : 2;
  const std::size_t words = half ? 2 : 1;  // elements per word
  double steps = 0;
  for (const Operand& slice : sliced.slices) {
    const WeightMatrix matrix = expand(slice);
    for (int first = 0; first < registers; first += step) {
      bool used = false;
      const std::size_t begin = static_cast<std::size_t>(first) * 4 * words;
      for (std::size_t m = 0; m < matrix.rows() && !used; ++m)
        for (std::size_t k = begin; k < std::min(matrix.columns(), begin + step * 4 * words) && !used; ++k)
          used = matrix.value(m, k) != 0.0;
      // fp64 has instructions of smaller k, which take as much less.
      steps += used * (fp64 ? std::min(1.0, static_cast<double>(registers - first) / step) : 1.0);
    }
  }
  const double tiles = fp64 ? 16 : 8;  // per instruction: its rows in fp64, else its columns
  const double outputs = tiles * static_cast<double>(sliced.first().rows());
  const double terms = precision == Precision::fp32 ? 3 : 1;
  const DirectSweep sweep{dimensions, precision, sparse, fused.taps().size(), sliced.slices.size()};
  TensorWork work;
  work.instructions = steps * sweep.products() / outputs;
  // The product of tf32 has half of the depth of the others, in the time of two.
  const double multiplied = sweep.products() == 4 ? 3 : sweep.products();
  work.fma = steps * multiplied / outputs * 16 * 8 * step * 4 * static_cast<double>(words);
  work.shared_bytes = 128.0 * registers * terms / outputs;
  work.peak = fp64   ? device.mma_fp64
              : half ? (sparse ? device.mma_half_sparse : device.mma_half)
                     : (sparse ? device.mma_tf32_sparse : device.mma_tf32);
  work.rate = work.peak * sweep.share();
  work.memory_cost = sweep.memory_cost();
  work.latency = sweep.latency(domain);
  work.padding = sweep.padding(domain.shape, sliced.tile[y_axis], device);
  return work;
}

/// Rows of 32 columns that stay in shared memory, for tiles of 4 x 16 outputs (kernels/cuda/wgmma_sweep.cuh).
TensorWork windowed_work(const Stencil& fused, const Domain& domain, Precision precision,
                         const DeviceModel& device) {
  const InputWindow window = *input_window(fused, precision);
  const double rows = window.rows, taken = rows - InputWindow::tile_rows + 1;
  const bool split = precision == Precision::fp32, half = storage_bytes(precision) == 2;
  TensorWork work;
  work.fma = window.parts * rows * InputWindow::columns * (split ? 3 : 1);
  work.instructions = work.fma / (16 * 8 * (half ? 32 : 16));
  work.shared_bytes = static_cast<double>(storage_bytes(precision)) * (2 + rows / InputWindow::tile_rows);
  work.peak = device.wgmma_tf32_sparse;
  // What was measured on H200: conversions of data, then the instructions.
  const double seconds =
      half ? (window.parts == 1 ? 0.74e-12 + 0.026e-12 * rows : 0.59e-12 + 0.087e-12 * rows)
           : window.parts * (split ? 2.5e-12 + 0.14e-12 * taken : 1.76e-12 + 0.0525e-12 * taken);
  work.rate = work.instructions / seconds * device.wgmma_tf32_sparse / nominal_gpu().wgmma_tf32_sparse;
  work.memory_cost = 1.1;
  work.latency = 4.5e-6 * (1 - filled(domain, 1e7));
  return work;
}

/// Passes along x and y on tiles of 16 x 16 outputs with windows of 32 points: two instructions per term,
/// pass and window, twice as many for tf32, and three products of two tf32 terms for fp32.
TensorWork separable_work(const Stencil& fused, const Domain& domain, Precision precision, double dropped,
                          const DeviceModel& device) {
  const SeparableOperand operand = separable_operand(separate(fused, dropped), precision);
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
  // Shares as measured on H200. Rows between two steps are kept in registers: many spill, or narrow the
  // tiles.
  const double history = line || space ? 0.0 : operand.x_rank * operand.y.windows * (split ? 16.0 : 8.0);
  constexpr double of_windows[] = {1, 1, 1, 2.5, 1.7, 4.6, 11};  // with one factor
  const auto windows_along_y = static_cast<std::size_t>(std::min(operand.y.windows, 6));
  const double spills = !line && operand.y.windows > 2
                            ? std::max(operand.rank == 1 ? 1.0 : 5.3, of_windows[windows_along_y])
                        : half ? (history > 64 ? 1.7 : 1.0)
                               : std::max(1.0, 0.5 + history / 92);
  work.rate = work.peak * (half ? 0.65 : line ? 0.57 : 0.48) / spills;
  work.memory_cost = line ? (half ? 1.17 : 1.0) : space ? 1.3 : 1.06;
  // Blocks march: on small grids each takes as long as its own columns do.
  const double small = 1 - filled(domain, 1e7);
  work.latency = line    ? 7e-6
                 : space ? 10e-6 - 7e-6 * small
                 : half  ? 5e-6 + 6e-6 * small * spills
                         : 10e-6 + 15e-6 * small * spills * spills;
  work.is_serial = line && !half;
  // Planes are filtered by multiply-adds in fp32, with loads and moves around them.
  if (space) {
    work.padding = march_padding(domain.shape, 64, half ? 48 : 32, operand.z_taps + 1, 1, device);
    const double fma = static_cast<double>(operand.z_rank * operand.z_taps);
    work.filter_fma = (split ? 4.7 : 2.34) * fma;
    work.fma += fma;
  }
  return work;
}

}  // namespace

void evaluate_tensor(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const Stencil fused = fuse_steps(problem.stencil, candidate.fuse);
  const Layout layout = parse_layout(candidate.layout).value();
  const bool windowed = candidate.unit == "sparse-tensor" && layout == Layout::strided_swap &&
                        problem.domain.dimensions == 2 && device.compute_capability == 90 &&
                        takes_window(fused, problem.precision);
  const TensorWork work =
      windowed ? windowed_work(fused, problem.domain, problem.precision, device)
      : layout == Layout::separable
          ? separable_work(fused, problem.domain, problem.precision, candidate.dropped, device)
          : direct_work(fused, problem.domain, problem.precision,
                        layout == Layout::dual_tessellation ? Layout::strided_swap : layout,
                        candidate.unit == "sparse-tensor", device);
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const auto taps = static_cast<double>(problem.stencil.taps().size());
  const auto fused_taps = static_cast<double>(fused.taps().size());
  const double steps = candidate.fuse, points = static_cast<double>(problem.domain.box().points());
  candidate.terms = work.terms;
  candidate.bytes = (2 * element + (problem.has_source ? std::max(element, 4.0) : 0.0)) / steps;
  candidate.fma = work.fma / steps;
  candidate.redundancy = fused_taps / (steps * taps);
  candidate.sparsity = fused_taps / work.fma;
  candidate.shared_bytes = work.shared_bytes / steps;
  if (!device.gpu) {  // emulated, some 2e8 multiply-adds/s
    candidate.compute_seconds = candidate.fma / 2e8;
    candidate.memory_seconds = candidate.bytes / device.bandwidth;
    candidate.seconds = candidate.compute_seconds;
    return;
  }
  candidate.memory_seconds = work.padding * candidate.bytes * work.memory_cost / device.bandwidth;
  candidate.compute_seconds =
      work.padding * (work.instructions / work.rate + work.filter_fma / device.scalar_fp32) / steps;
  candidate.shared_seconds = candidate.shared_bytes / device.shared_bandwidth;
  const double sweep =
      work.latency / (points * steps) +
      (work.is_serial
           ? candidate.memory_seconds + candidate.compute_seconds
           : overlapped({candidate.memory_seconds, candidate.compute_seconds, candidate.shared_seconds}));
  const double bands = band_seconds(problem, device, candidate.fuse) / (points * steps);
  candidate.wall_seconds = bands;
  candidate.seconds = sweep + bands;

  // Paper 003, section 4: bounds of both units at this depth, and equation 19.
  Problem everywhere = problem;
  everywhere.domain.faces = {};
  Candidate exact{Method(candidate.fuse)};
  evaluate_scalar(everywhere, device, exact);
  const bool scalar_computes = exact.compute_seconds > exact.memory_seconds;
  const bool tensor_computes = candidate.compute_seconds > candidate.memory_seconds;
  candidate.scenario = 1 + 2 * scalar_computes + tensor_computes;
  const double tensor_peak = work.peak * work.fma / work.instructions;
  candidate.in_sweet_spot =
      candidate.redundancy < candidate.sparsity * tensor_peak / device.scalar_rate(problem.precision);
}

}  // namespace spsolve
