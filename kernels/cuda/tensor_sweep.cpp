// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor_sweep.hpp"

#include <stdexcept>

#include "kernels/cuda/separable_sweep.hpp"
#include "kernels/cuda/wgmma_sweep.hpp"

namespace spsolve::cuda {
namespace {

/// Whether wgmma.sp does it, which is faster wherever it can.
bool is_windowed(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                 TensorCores cores, const BlockLimits& limits) {
  return limits.compute_capability == 90 && domain.dimensions == 2 && layout == Layout::strided_swap &&
         cores == TensorCores::sparse && takes_window(fused, precision);
}

}  // namespace

std::unique_ptr<Sweep> make_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision,
                                         Layout layout, double dropped, TensorCores cores,
                                         cudaStream_t stream) {
  if (layout == Layout::separable)
    return std::make_unique<SeparableSweep>(separate(fused, dropped), precision, stream);
  if (is_windowed(domain, fused, precision, layout, cores, current_device().block_limits()))
    return std::make_unique<WgmmaSweep>(fused, precision, stream);
  return std::make_unique<MmaSweep>(domain, fused, precision, layout, cores, stream);
}

bool has_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                      double dropped, TensorCores cores, const BlockLimits& limits) {
  if (is_windowed(domain, fused, precision, layout, cores, limits)) return true;
  try {
    if (layout == Layout::separable)
      SeparableProgram(separate(fused, dropped), precision, limits);
    else
      MmaProgram(domain, fused, precision, layout, cores, limits);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace spsolve::cuda
