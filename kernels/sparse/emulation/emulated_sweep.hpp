// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/no_kernel.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sweep.hpp"

namespace spsolve {

/// Makes a sweep with `fused` weights on tensor cores that the CPU emulates, so that their numerics can be
/// examined without a GPU. In half precision, tf32 and fp32, dense and sparse tensor cores add the same
/// products, so one emulation stands for both. Strided swapping of planes in fp32 is emulated as wgmma.sp
/// does it, with pairs of fp16. fp64 supports only the layout dual-tessellation.
///
/// `dropped` is the share of sum |weights| that separable terms may leave out; `shape` is that of the grid.
/// The source is multiplied by `source_factor`.
/// Returns NoKernel if no instruction takes the precision in this layout (supports()), or if the weights are
/// too small for the precision.
OrNoKernel<std::unique_ptr<Sweep>> make_emulated_sweep(const Stencil& fused, Precision precision,
                                                       Layout layout, double dropped, const Index3& shape,
                                                       double source_factor = 1);

}  // namespace spsolve
