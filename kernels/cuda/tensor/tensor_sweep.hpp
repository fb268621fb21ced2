// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cuda/tensor/mma_sweep.hpp"

namespace spsolve::cuda {

/// Makes a sweep with `fused` weights on the tensor cores of the current device, which enqueues its work on
/// `stream`. `dropped` is the share of sum |weights| that separable terms may leave out. The source is
/// multiplied by `source_factor`.
OrNoKernel<std::unique_ptr<Sweep>> make_tensor_sweep(const Domain& domain, const Stencil& fused,
                                                     Precision precision, Layout layout, double dropped,
                                                     TensorCores cores, cudaStream_t stream,
                                                     double source_factor = 1);

}  // namespace spsolve::cuda
