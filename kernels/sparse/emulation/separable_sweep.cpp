// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/separable_sweep.hpp"

#include <optional>

#include "kernels/sparse/chained_pass.hpp"
#include "kernels/sparse/separable_operand.hpp"
#include "kernels/sparse/strided_swap.hpp"

namespace spsolve {
namespace {

/// Returns true if a factor is not the identity. Passes run along such axes, or along x if there are none.
bool needs_pass(const Stencil& factor) { return factor.taps() != std::vector<Tap>{{{0, 0, 0}, 1.0}}; }

/// Returns the operand of a pass. tf32 is one_of_two, so it uses strided swap.
Operand pass_operand(const Stencil& factor, int axis, Precision element) {
  if (element != Precision::tf32) return chained_pass(factor, axis);
  return strided_swap(factor, min_swap_length(static_cast<int>(tap_box(factor).extent()[axis])), axis);
}

}  // namespace

EmulatedSeparableSweep::EmulatedSeparableSweep(const SeparableStencil& stencil, Precision precision,
                                               double source_factor)
    : precision_(precision) {
  const bool split = precision == Precision::fp32;
  const Precision element = split ? Precision::tf32 : precision;
  const SeparableStencil rounded = as_rounded(stencil, precision),
                         larger = as_rounded(stencil, precision, 0, 1),
                         smaller = as_rounded(stencil, precision, 1);
  for (std::size_t k = 0; k < rounded.terms.size(); ++k) {
    auto& passes = terms_.emplace_back();
    const double factor_of_added = k == 0 ? source_factor : 1;  // later terms are added to sums
    for (const int axis : {z_axis, y_axis, x_axis}) {
      const Stencil factor = axis_stencil(rounded, rounded.terms[k], axis);
      if (!needs_pass(factor) && !(axis == x_axis && passes.empty())) continue;
      const Operand operand = pass_operand(factor, axis, element);
      const auto part = [&](const SeparableStencil& of) {
        return with_factor(operand, of.terms[k].factor[axis], of.taps.begin[axis], axis);
      };
      if (split && axis != z_axis)
        passes.push_back(
            {factor.radius(), {{{part(larger), part(smaller)}, 1.0}, precision, element, factor_of_added}});
      else
        passes.push_back({factor.radius(), {operand, precision, {element, split ? 2 : 1}, factor_of_added}});
    }
  }
}

void EmulatedSeparableSweep::operator()(const Field& in, Field& out, const Box& region,
                                        const Field* source) const {
  if (region.empty()) return;
  Field sums(region, {0, 0, 0}, Precision::fp32);
  for (std::size_t term = 0; term < terms_.size(); ++term) {
    const auto& passes = terms_[term];
    Index3 margin{};  // margin needed by the remaining passes
    for (const Pass& pass : passes) margin = margin + pass.radius;
    std::optional<Field> handed_on;
    for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
      margin = margin - passes[i].radius;
      Field next(grow(region, margin), {0, 0, 0}, precision_);
      passes[i].sweep(handed_on ? *handed_on : in, next, next.owned());
      handed_on.emplace(std::move(next));
    }
    const Field& from = handed_on ? *handed_on : in;
    const Field* added = term == 0 ? source : &sums;
    if (term + 1 < terms_.size())
      passes.back().sweep(from, sums, region, added);
    else
      passes.back().sweep(from, out, region, added);
  }
}

}  // namespace spsolve
