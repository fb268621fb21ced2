// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/no_kernel.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sweep.hpp"

namespace spsolve {

/// A sweep with `fused` weights on tensor cores emulated by the CPU, so that their numerics can be looked at
/// without a GPU. In half precision, tf32 and fp32 dense and sparse tensor cores add the same products, so
/// one emulation stands for both, but for planes in fp32 by strided swapping: these are as wgmma.sp does
/// them, with pairs of fp16; fp64 has the layout dual-tessellation alone. `dropped`: the share of sum
/// |weights| that separable terms left out may have; `shape` is that of the grid. NoKernel where no
/// instruction takes the precision in this layout (takes()), or the weights are too small for it.
MadeOr<std::unique_ptr<Sweep>> make_emulated_sweep(const Stencil& fused, Precision precision, Layout layout,
                                                   double dropped, const Index3& shape);

}  // namespace spsolve
