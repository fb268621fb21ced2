// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/tensor_sweep.hpp"

#include "kernels/cuda/tensor/separable_sweep.hpp"
#include "kernels/cuda/tensor/wgmma_sweep.hpp"

namespace spsolve::cuda {
std::unique_ptr<Sweep> make_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision,
                                         Layout layout, double dropped, TensorCores cores,
                                         cudaStream_t stream) {
  if (layout == Layout::separable)
    return std::make_unique<SeparableSweep>(separate(fused, dropped), precision, stream);
  if (takes_wgmma(domain.dimensions, fused, precision, layout, cores, current_device().block_limits()))
    return std::make_unique<WgmmaSweep>(fused, precision, stream);
  return std::make_unique<MmaSweep>(domain, fused, precision, layout, cores, stream);
}

}  // namespace spsolve::cuda
