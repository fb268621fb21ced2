// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/tensor_sweep.hpp"

#include "kernels/cuda/tensor/separable_sweep.hpp"
#include "kernels/cuda/tensor/wgmma_sweep.hpp"

namespace spsolve::cuda {
namespace {

using SweepOrNoKernel = OrNoKernel<std::unique_ptr<Sweep>>;

/// Returns the sweep that `make` makes of a program, if there is one.
template <class Program, class Make>
SweepOrNoKernel sweep_with(OrNoKernel<Program> program, double source_factor, Make&& make) {
  if (auto* none = std::get_if<NoKernel>(&program)) return std::move(*none);
  auto sweep = make(std::get<Program>(std::move(program)));
  sweep->scale_source(source_factor);
  return std::unique_ptr<Sweep>(std::move(sweep));
}

}  // namespace

SweepOrNoKernel make_tensor_sweep(const Domain& domain, const Stencil& fused, Precision precision,
                                  Layout layout, double dropped, TensorCores cores, cudaStream_t stream,
                                  double source_factor) {
  if (layout == Layout::dual_tessellation) return NoKernel{"GPUs take fp64 in the layout natural-order"};
  const BlockLimits limits = current_device().block_limits();
  if (layout == Layout::separable)
    return sweep_with(SeparableProgram::make(separate(fused, dropped), precision, limits), source_factor,
                      [&](SeparableProgram program) {
                        return std::make_unique<SeparableSweep>(std::move(program), precision, stream);
                      });
  if (takes_wgmma(domain.dimensions, fused, precision, layout, cores, limits))
    return sweep_with(WgmmaProgram::make(fused, precision, limits, {}, cores), source_factor,
                      [&](WgmmaProgram program) {
                        return std::make_unique<WgmmaSweep>(std::move(program), precision, stream);
                      });
  return sweep_with(MmaProgram::make(domain, fused, precision, layout, cores, limits), source_factor,
                    [&](MmaProgram program) {
                      return std::make_unique<MmaSweep>(std::move(program), domain, precision, stream);
                    });
}

}  // namespace spsolve::cuda
