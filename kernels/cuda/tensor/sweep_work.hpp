// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/calibration.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "kernels/domain.hpp"
#include "kernels/no_kernel.hpp"

namespace spsolve::cuda {

/// Holds the rates on which the speed of sweeps on tensor cores depends, for the whole device:
/// instructions/s, multiply-adds/s and bytes/s. The names are those of DeviceModel.
struct DeviceRates {
  double mma_half = 0, mma_half_sparse = 0, mma_tf32 = 0, mma_tf32_sparse = 0, mma_fp64 = 0;
  double wgmma_tf32_sparse = 0;
  double shared_bandwidth = 0, scalar_fp32 = 0;
  BlockLimits limits;
  Calibration::PeakRates ceilings{};  // flop/s and bytes/s that nothing exceeds
};

/// Describes what a kernel does in a sweep, counted per point of the grid and launch, and how long that
/// takes.
struct SweepWork {
  double instructions = 0;
  double fma = 0;  // executed multiply-adds: with zeros, first planes of marches and tiles beyond the edge
  double shared_bytes = 0;
  double peak = 0;            // instructions/s of the tensor cores
  double ceiling = 0;         // flop/s that these instructions reach at most, zeros included
  double seconds = 0;         // s of computing alone
  double shared_seconds = 0;  // s of reading and writing shared memory alone
  double memory_cost = 1;     // time of memory traffic, divided by that of a copy
  double source_cost = 1;     // the same for a source that is read where it is used
  bool source_ahead = false;  // the source is fetched with the input
  double latency = 0;         // s of a launch, before the first and after the last results
  bool is_serial = false;     // memory and computing take turns
  bool scales_data = false;   // needs the largest magnitude on the whole grid
  std::size_t terms = 0;
};

/// Returns the seconds from one instruction of a warp to its next one: `waits` times as long as the
/// instruction takes on the tensor cores of one scheduler.
inline double instruction_seconds(double waits, double peak, const DeviceRates& device) {
  return waits * schedulers_of_multiprocessor * device.limits.multiprocessors / peak;
}

/// Return the work of a sweep with `fused` weights over a grid by each family of kernels, on the tiles that
/// it would be launched with, or the NoKernel of its program. Separable terms that are left out may have the
/// share `dropped` of sum |weights|.
OrNoKernel<SweepWork> mma_work(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                               TensorCores cores, bool with_source, const DeviceRates& device);
OrNoKernel<SweepWork> wgmma_work(const Domain& domain, const Stencil& fused, Precision precision,
                                 TensorCores cores, const DeviceRates& device);
OrNoKernel<SweepWork> separable_work(const Domain& domain, const Stencil& fused, Precision precision,
                                     double dropped, bool with_source, const DeviceRates& device);

}  // namespace spsolve::cuda
