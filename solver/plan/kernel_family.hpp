// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "kernels/cuda/tensor/sweep_work.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Describes a family of kernels to the plan, which knows no family by name.
struct KernelFamily {
  const char* name;
  UnitKind unit;                 // the unit and the layout by which inputs ask for it
  std::optional<Layout> layout;  // none for the scalar unit

  /// Returns the steps per launch that are worth modelling on a device.
  std::span<const int> (*depths)(const DeviceModel& device);
  /// Says why the family does not take a problem on a device at a depth, as far as that is known without
  /// making a kernel; returns nothing if it does.
  std::optional<Refusal> (*refusal)(const Problem& problem, const DeviceModel& device, const Method& method);
  /// Sets the members of a candidate that depend on the unit: bytes, fma, sparsity and all seconds except
  /// those of launches. If no kernel can be made, it says why (Candidate::no_kernel).
  void (*evaluate)(const Problem& problem, const DeviceModel& device, Candidate& candidate);
};

/// Returns all families, one for each unit and layout.
std::span<const KernelFamily> kernel_families();

/// Returns the layout that a device uses in place of the requested one. In fp64 GPUs have natural-order and
/// the emulation on CPUs dual-tessellation. Inputs and checkpoints may name either on both.
std::optional<Layout> layout_here(std::optional<Layout> layout, const DeviceModel& device);

/// Returns the family that takes a problem by a method, or the reason why none does.
std::variant<const KernelFamily*, Refusal> family_of(const Problem& problem, const DeviceModel& device,
                                                     const Method& method);

/// Counts the operations of a sweep with the weights of fused steps over the points of `core`.
using CountWork = OrNoKernel<cuda::SweepWork> (*)(const Problem& problem, const Method& method,
                                                  const Stencil& fused, const Domain& core,
                                                  const DeviceModel& device);

/// Implements KernelFamily::evaluate for sweeps on tensor cores: `count` counts the work of a sweep beyond
/// memory traffic.
void evaluate_sweep(const Problem& problem, const DeviceModel& device, CountWork count, Candidate& candidate);

}  // namespace spsolve
