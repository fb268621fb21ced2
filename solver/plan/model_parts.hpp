// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Seconds of parts that overlap except near their balance: a mean of a high power (launch.overlap).
inline double overlapped(const Calibration& costs, std::initializer_list<double> parts) {
  double sum = 0;
  for (const double part : parts) sum += std::pow(part, costs.launch.overlap);
  return std::pow(sum, 1 / costs.launch.overlap);
}

/// How much of the device a kernel fills that fills it on grids of `enough` points: few blocks begin and end
/// sooner, and what one takes by itself shows.
inline double filled(const Domain& domain, double enough) {
  return std::min(1.0, static_cast<double>(domain.box().points()) / enough);
}
inline double filled(const Domain& domain, const Calibration& costs) {
  return filled(domain, costs.launch.enough_points);
}

/// What kernels cut to measure have to fit on a device.
inline cuda::BlockLimits limits_of(const DeviceModel& device) {
  return {static_cast<int>(device.compute_capability),
          static_cast<std::size_t>(device.shared_bytes_per_block), static_cast<int>(device.multiprocessors),
          device.calibration.get()};
}

inline cuda::TensorCores cores_of(const Method& method) {
  return method.unit == UnitKind::tensor ? cuda::TensorCores::dense : cuda::TensorCores::sparse;
}

/// Fill in what depends on the unit: bytes, fma, sparsity and the seconds but those of launches. The scalar
/// unit, and that on tensor cores.
void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate);
void evaluate_on_cpu(const Problem& problem, const DeviceModel& device, Candidate& candidate);
void evaluate_on_gpu(const Problem& problem, const DeviceModel& device, Candidate& candidate);
/// Seconds that the scalar unit takes for the points within reach of walls, one region after the other, while
/// a sweep takes the others.
double band_seconds(const Problem& problem, const DeviceModel& device, int fuse);
void evaluate_tensor(const Problem& problem, const DeviceModel& device, Candidate& candidate);

}  // namespace spsolve
