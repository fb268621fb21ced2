// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/wall_reflections.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

/// Beyond 16 steps the halo of a tile of the scalar unit costs more than memory traffic saves; separable
/// sweeps use more steps.
constexpr int scalar_depths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr int tensor_depths[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16, 20, 24, 31, 40};
/// Weights along a line fill whole windows (kernels/sparse/separable_operand.hpp) if they reach over multiples
/// of eight points.
constexpr int separable_depths[] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14, 15,
                                    16, 20, 24, 31, 40, 44, 56, 72, 88, 104, 120};
constexpr int emulated_depths[] = {1, 2, 3, 4};

std::span<const int> depths_of_scalar(const DeviceModel&) { return scalar_depths; }
std::span<const int> depths_of_tensor(const DeviceModel& device) {
  return device.gpu ? std::span<const int>(tensor_depths) : std::span<const int>(emulated_depths);
}
std::span<const int> depths_of_separable(const DeviceModel& device) {
  return device.gpu ? std::span<const int>(separable_depths) : std::span<const int>(emulated_depths);
}

Refusal none(std::string why) { return {Obstacle::no_kernel, std::move(why)}; }

std::optional<Refusal> takes_all(const Problem&, const DeviceModel&, const Method&) { return {}; }

/// Says why no layout takes the fused weights; returns nothing if some layout may.
std::optional<Refusal> refusal_of_weights(const Problem& problem, const DeviceModel& device,
                                          const Method& method) {
  const bool fp64 = problem.precision == Precision::fp64;
  if (!supports(*method.layout, problem.precision))
    return none(fp64 ? std::string("fp64 has dense layouts only, by unit = \"tensor\"")
                     : fmt::format("the layout {} is not for {}", to_string(*method.layout),
                                   to_string(problem.precision)));
  if (device.gpu)
    if (auto no_mma = cuda::why_no_mma(limits_of(device))) return none(no_mma->why);
  if (problem.equations) {
    const Domain domain =
        with_wall_reflections(problem.domain, problem.stencil, method.fuse, problem.precision);
    if (const std::string axis = axis_without_reflections(domain); !axis.empty())
      return none(fmt::format(
          "fused weights are not exact beside the walls of {}: they need symmetric weights that sum "
          "to 1, or walls of the value 0; the same value if several axes have one; radius 1 beside "
          "dirichlet walls; and a grid as wide as they reach",
          axis));
  }
  const Index3 reach = method.fuse * problem.stencil.radius();
  const std::int64_t weights = volume(2 * reach + Index3{1, 1, 1});
  if (method.fuse > 1 && weights > max_fused_weights)
    return Refusal{Obstacle::memory,
                   fmt::format("fused steps would have {} weights, {} at most", weights, max_fused_weights)};
  // Weights whose sum of magnitudes is far from 1 leave the range of numbers when they are fused.
  const double digits = method.fuse * std::log10(sum_abs(problem.stencil)), max_digits = fp64 ? 200 : 30;
  if (std::abs(digits) > max_digits)
    return none(fmt::format("fused weights would be of the order of 1e{:+.0f}, beyond 1e+-{:.0f}", digits,
                            max_digits));
  return {};
}

std::optional<Refusal> refusal_of_natural_order(const Problem& problem, const DeviceModel& device,
                                                const Method& method) {
  if (!device.gpu) return none("the layout natural-order is for GPUs; CPUs emulate dual-tessellation");
  return refusal_of_weights(problem, device, method);
}

std::optional<Refusal> refusal_of_tessellation(const Problem& problem, const DeviceModel& device,
                                               const Method& method) {
  if (device.gpu) return none("dual-tessellation is emulated on CPUs only; GPUs take natural-order");
  return refusal_of_weights(problem, device, method);
}

std::optional<Refusal> refusal_of_sparse(const Problem& problem, const DeviceModel& device,
                                         const Method& method) {
  if (problem.precision == Precision::fp64)
    return none("fp64 has dense tensor cores only: unit = \"tensor\"");
  return refusal_of_weights(problem, device, method);
}

std::optional<Refusal> refusal_of_separable(const Problem& problem, const DeviceModel& device,
                                            const Method& method) {
  if (auto refusal = refusal_of_sparse(problem, device, method)) return refusal;
  constexpr std::int64_t max_planes = 7, max_in_planes = 40, max_in_lines = 128;
  const Index3 reach = method.fuse * problem.stencil.radius();
  const std::int64_t within = std::max(reach[y_axis], reach[x_axis]),
                     most = problem.domain.dimensions == 1 ? max_in_lines : max_in_planes;
  if (device.gpu && (reach[z_axis] > max_planes || within > most))
    return none(fmt::format("separable terms would reach {} planes and {} points in them, {} and {} at most",
                            reach[z_axis], within, max_planes, most));
  return {};
}

cuda::DeviceRates sweep_rates_of(const DeviceModel& device) {
  return {device.mma_half,   device.mma_half_sparse,   device.mma_tf32,         device.mma_tf32_sparse,
          device.mma_fp64,   device.wgmma_tf32_sparse, device.shared_bandwidth, device.scalar_fp32,
          limits_of(device), ceilings_of(device)};
}

OrNoKernel<cuda::SweepWork> count_mma(const Problem& problem, const Method& method, const Stencil& fused,
                                      const Domain& core, const DeviceModel& device) {
  return cuda::mma_work(core, fused, problem.precision, *method.layout, cores_of(method), problem.has_source,
                        sweep_rates_of(device));
}

OrNoKernel<cuda::SweepWork> count_wgmma(const Problem& problem, const Method& method, const Stencil& fused,
                                        const Domain& core, const DeviceModel& device) {
  // Only the fused weights tell whether a window holds them.
  if (!cuda::takes_wgmma(core.dimensions, fused, problem.precision, *method.layout, cores_of(method),
                         limits_of(device)))
    return count_mma(problem, method, fused, core, device);
  return cuda::wgmma_work(core, fused, problem.precision, cores_of(method), sweep_rates_of(device));
}

OrNoKernel<cuda::SweepWork> count_separable(const Problem& problem, const Method& method,
                                            const Stencil& fused, const Domain& core,
                                            const DeviceModel& device) {
  return cuda::separable_work(core, fused, problem.precision, method.dropped, problem.has_source,
                              sweep_rates_of(device));
}

void evaluate_on_gpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const cuda::ScalarWork work = cuda::scalar_work(march_model_of(problem, device), candidate.fuse);
  candidate.bytes = work.bytes;
  candidate.fma = work.fma;
  candidate.memory_seconds = work.memory_seconds;
  candidate.compute_seconds = work.compute_seconds;
  candidate.wall_seconds = work.wall_seconds;
  candidate.launch_seconds += work.gap_seconds;
  candidate.launch_seconds += work.fill_seconds;
  candidate.seconds = work.seconds;
  candidate.wraps = work.wraps;
}

template <CountWork count>
void evaluate_by(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  evaluate_sweep(problem, device, count, candidate);
}

constexpr KernelFamily families[] = {
    {"marches and single steps", UnitKind::scalar, {}, depths_of_scalar, takes_all, evaluate_scalar},
    {"wgmma, or dense mma", UnitKind::tensor, Layout::strided_swap, depths_of_tensor, refusal_of_weights,
     evaluate_by<count_wgmma>},
    {"dense mma", UnitKind::tensor, Layout::morph, depths_of_tensor, refusal_of_weights,
     evaluate_by<count_mma>},
    {"mma in fp64", UnitKind::tensor, Layout::natural_order, depths_of_tensor, refusal_of_natural_order,
     evaluate_by<count_mma>},
    {"emulated mma in fp64", UnitKind::tensor, Layout::dual_tessellation, depths_of_tensor,
     refusal_of_tessellation, evaluate_by<count_mma>},
    {"wgmma.sp, or mma.sp", UnitKind::sparse_tensor, Layout::strided_swap, depths_of_tensor,
     refusal_of_sparse, evaluate_by<count_wgmma>},
    {"mma.sp", UnitKind::sparse_tensor, Layout::morph, depths_of_tensor, refusal_of_sparse,
     evaluate_by<count_mma>},
    {"separable", UnitKind::sparse_tensor, Layout::separable, depths_of_separable, refusal_of_separable,
     evaluate_by<count_separable>}};

}  // namespace

void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  (device.gpu ? evaluate_on_gpu : evaluate_on_cpu)(problem, device, candidate);
  const Calibration::PeakRates ceilings = ceilings_of(device);
  candidate.peak = problem.precision == Precision::fp64 ? ceilings.fma_fp64 : ceilings.fma_fp32;
  candidate.ridge = candidate.peak / ceilings.copy;
  candidate.sparsity = static_cast<double>(problem.stencil.taps().size()) / candidate.fma;
}

std::span<const KernelFamily> kernel_families() { return families; }

std::optional<Layout> layout_here(std::optional<Layout> layout, const DeviceModel& device) {
  const bool is_of_fp64 = layout == Layout::natural_order || layout == Layout::dual_tessellation;
  return is_of_fp64 ? fp64_layout(device.gpu) : layout;
}

std::variant<const KernelFamily*, Refusal> family_of(const Problem& problem, const DeviceModel& device,
                                                     const Method& method) {
  std::string among;
  for (const KernelFamily& family : families) {
    if (family.unit != method.unit) continue;
    if (family.layout == method.layout) {
      if (auto refusal = family.refusal(problem, device, method)) return *refusal;
      return &family;
    }
    among += fmt::format("{}{}", among.empty() ? "" : ", ", name_or(family.layout, "none"));
  }
  return none(fmt::format("unit = \"{}\" has these layouts: {}", to_string(method.unit), among));
}

}  // namespace spsolve
