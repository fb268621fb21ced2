// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/emulated_sweep.hpp"

#include <string>

#include "kernels/sparse/dual_tessellation.hpp"
#include "kernels/sparse/emulation/dense_sweep.hpp"
#include "kernels/sparse/emulation/separable_sweep.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve {

OrNoKernel<std::unique_ptr<Sweep>> make_emulated_sweep(const Stencil& fused, Precision precision,
                                                       Layout layout, double dropped, const Index3& shape,
                                                       double source_factor) {
  if (!supports(layout, precision))
    return NoKernel{"tensor cores do not take " + std::string(to_string(precision)) + " in the layout " +
                    std::string(to_string(layout))};
  switch (layout) {
    case Layout::natural_order:
      return NoKernel{"CPUs emulate fp64 in the layout dual-tessellation"};
    case Layout::dual_tessellation:
      return std::make_unique<DenseSweep>(dual_tessellation(fused), source_factor);
    case Layout::separable:
      return std::make_unique<EmulatedSeparableSweep>(separate(fused, dropped), precision, source_factor);
    case Layout::strided_swap:
    case Layout::morph:
      break;
  }
  if (precision == Precision::fp32 && layout == Layout::strided_swap && shape[z_axis] == 1 &&
      supports_window(fused, precision))
    return std::make_unique<SparseSweep>(windowed_pair(fused, *input_window(fused, precision)), precision,
                                         Precision::fp16, source_factor);
  const auto [element, terms] = operand_terms(precision);
  const auto rounded = round_weights(fused, precision);
  if (!rounded) return too_small_weights(precision);
  const Operand operand = sparse_operand(*rounded, layout, widest_mma(element), shape);
  return std::make_unique<SparseSweep>(split_operand(operand, element, terms, sum_abs(fused)), precision,
                                       element, source_factor);
}

}  // namespace spsolve
