// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor_sweep.hpp"

#include <stdexcept>

#include "kernels/cuda/separable_sweep.hpp"

namespace spsolve::cuda {

std::unique_ptr<Sweep> make_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision,
                                         Layout layout, double dropped, TensorCores cores,
                                         cudaStream_t stream) {
  if (layout == Layout::separable)
    return std::make_unique<SeparableSweep>(separate(fused, dropped), precision, stream);
  return std::make_unique<MmaSweep>(domain, fused, precision, layout, cores, stream);
}

bool has_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision, Layout layout,
                      double dropped, TensorCores cores) {
  DeviceInfo hopper;
  hopper.compute_capability = 90;
  hopper.shared_bytes_per_block = 227 * 1024;
  if (layout == Layout::separable)
    return SeparableSweep::is_possible(separate(fused, dropped), precision, hopper);
  try {
    const MmaProgram program(domain, fused, precision, layout, cores);
    return static_cast<std::size_t>(program.shared_bytes()) <= hopper.shared_bytes_per_block;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace spsolve::cuda
