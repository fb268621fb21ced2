// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "kernels/cuda/tensor/sweep_work.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// What a family of kernels says of itself to the plan, which knows none by name.
struct KernelFamily {
  const char* name;
  UnitKind unit;                 // by which inputs ask for it, as by the layout
  std::optional<Layout> layout;  // none for the scalar unit

  /// Steps per launch that are worth looking at on a device.
  std::span<const int> (*depths)(const DeviceModel& device);
  /// Why the family does not take a problem on a device at a depth, as far as that is known before a kernel
  /// is cut; nothing where it does.
  std::optional<Refusal> (*refusal)(const Problem& problem, const DeviceModel& device, const Method& method);
  /// Fills in what depends on the unit: bytes, fma, sparsity and the seconds but those of launches; or why no
  /// kernel can be cut (Candidate::no_kernel).
  void (*evaluate)(const Problem& problem, const DeviceModel& device, Candidate& candidate);
};

/// Returns all families, one for each unit and layout.
std::span<const KernelFamily> kernel_families();

/// Returns the layout that a device has in place of what is asked for. In fp64 GPUs have natural-order and
/// the emulation on CPUs dual-tessellation. Inputs and checkpoints may name either on both.
std::optional<Layout> layout_here(std::optional<Layout> layout, const DeviceModel& device);

/// Returns the family that takes a problem by a method, or why none does.
std::variant<const KernelFamily*, Refusal> family_of(const Problem& problem, const DeviceModel& device,
                                                     const Method& method);

/// Counts what a sweep with the weights of fused steps does over the points of `core`.
using CountWork = MadeOr<cuda::SweepWork> (*)(const Problem& problem, const Method& method,
                                              const Stencil& fused, const Domain& core,
                                              const DeviceModel& device);

/// KernelFamily::evaluate of sweeps on tensor cores: what one does beyond memory is counted by `count`.
void evaluate_sweep(const Problem& problem, const DeviceModel& device, CountWork count, Candidate& candidate);

}  // namespace spsolve
