// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/calibration.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "kernels/domain.hpp"
#include "kernels/no_kernel.hpp"

namespace spsolve::cuda {

/// Holds the rates of a device on which the speed of sweeps on tensor cores depends: instructions/s,
/// multiply-adds/s, bytes/s of the whole device, by the names of the plan's model of devices.
struct DeviceRates {
  double mma_half = 0, mma_half_sparse = 0, mma_tf32 = 0, mma_tf32_sparse = 0, mma_fp64 = 0;
  double wgmma_tf32_sparse = 0;
  double shared_bandwidth = 0, scalar_fp32 = 0;
  BlockLimits limits;
  Calibration::Ceilings ceilings{};  // flop/s and bytes/s that nothing exceeds
};

/// Describes what a kernel does in a sweep, counted per point of the grid and launch, and how long that
/// takes.
struct SweepWork {
  double instructions = 0;
  double fma = 0;  // multiply-adds of these, zeros included
  double shared_bytes = 0;
  double peak = 0;            // instructions/s of the tensor cores
  double ceiling = 0;         // flop/s that these instructions reach at most, zeros included
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

/// Returns how much of the device a kernel fills that fills it on grids of `enough` points: few blocks begin
/// and end sooner, and what one takes by itself shows.
inline double utilization(const Domain& domain, double enough) {
  return std::min(1.0, static_cast<double>(domain.box().points()) / enough);
}

/// Returns the seconds until a warp has got an instruction, if many warps share the tensor cores: `waits`
/// times what the instruction takes of a quarter of a multiprocessor.
inline double instruction_seconds(double waits, double peak, const DeviceRates& device) {
  return waits * schedulers_of_multiprocessor * device.limits.multiprocessors / peak;
}

/// Returns the work of a sweep with `fused` weights over a grid by each family of kernels, on the tiles that
/// it would be launched with; NoKernel as the programs have it. `dropped`: the share of sum |weights| that
/// separable terms left out may have.
OrNoKernel<SweepWork> mma_work(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                               TensorCores cores, bool with_source, const DeviceRates& device);
OrNoKernel<SweepWork> wgmma_work(const Domain& domain, const Stencil& fused, Precision precision,
                                 TensorCores cores, const DeviceRates& device);
OrNoKernel<SweepWork> separable_work(const Domain& domain, const Stencil& fused, Precision precision,
                                     double dropped, bool with_source, const DeviceRates& device);

}  // namespace spsolve::cuda
