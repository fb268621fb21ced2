// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "kernels/cpu/step_program.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/sweep_work.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Returns the seconds of parts that overlap except near their balance: a mean of a high power.
inline double overlapped(const Calibration& costs, std::initializer_list<double> parts) {
  double sum = 0;
  for (const double part : parts) sum += std::pow(part, costs.launch.overlap);
  return std::pow(sum, 1 / costs.launch.overlap);
}

using cuda::utilization;
/// Returns the share of the device that a kernel fills. A grid of launch.enough_points fills it.
inline double utilization(const Domain& domain, const Calibration& costs) {
  return cuda::utilization(domain, costs.launch.enough_points);
}

/// Returns the cycles of a multiprocessor per second; in each it takes 128 fp32 multiply-adds.
inline double clock_of(const DeviceModel& device) {
  return device.scalar_fp32 / (128.0 * device.multiprocessors);
}

/// Returns the limits of a device within which kernels are cut.
inline cuda::BlockLimits limits_of(const DeviceModel& device) {
  return {static_cast<int>(device.compute_capability),
          static_cast<std::size_t>(device.shared_bytes_per_block), static_cast<int>(device.multiprocessors),
          device.calibration.get()};
}

inline cuda::TensorCores cores_of(const Method& method) {
  return method.unit == UnitKind::tensor ? cuda::TensorCores::dense : cuda::TensorCores::sparse;
}

/// Implements KernelFamily::evaluate for the scalar unit; its parts follow.
void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate);
void evaluate_on_cpu(const Problem& problem, const DeviceModel& device, Candidate& candidate);
/// Completes the candidate of a system of equations, whose bytes, memory_seconds and launch_seconds are
/// known. `programs` are those of its groups of statements.
void evaluate_system_on_cpu(const Problem& problem, const std::vector<StepProgram>& programs,
                            const DeviceModel& device, Candidate& candidate);
void evaluate_on_gpu(const Problem& problem, const DeviceModel& device, Candidate& candidate);
/// Returns the seconds that the scalar unit takes for the points within reach of walls, one region after the
/// other, while a sweep takes the others.
double band_seconds(const Problem& problem, const DeviceModel& device, int fuse);

}  // namespace spsolve
