// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cpu/step_program.hpp"
#include "kernels/cuda/launch/launch_time.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/model/march_model.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

using cuda::overlapped;
using cuda::utilization;

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

/// Returns the model of the scalar unit on a GPU. `problem` must outlive it.
inline cuda::MarchModel march_model_of(const Problem& problem, const DeviceModel& device) {
  return {problem.domain,
          problem.stencil,
          problem.precision,
          problem.has_source,
          {device.bandwidth, device.scalar_fp64, device.scalar_fp32, limits_of(device)}};
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
}  // namespace spsolve
