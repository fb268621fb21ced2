// SPDX-License-Identifier: Apache-2.0
#include "tests/support/step_context.hpp"

#include <stdexcept>

namespace spsolve {

LeafValue given_values(const StepContext& context, std::int64_t step) {
  return [&context, step](const Term& leaf, const Index3& p) {
    const Domain& domain = context.fields.front();
    switch (leaf.kind) {
      case TermKind::coordinate:
        return context.origin[leaf.index] + static_cast<double>(p[leaf.index]) * context.spacing[leaf.index];
      case TermKind::coefficient:
        return context.coefficients[leaf.index][static_cast<std::size_t>(
            index_of(wrapped_or_reflected(domain, p), domain.shape))];
      case TermKind::time:
        return static_cast<double>(step) * context.dt;
      case TermKind::step:
        return static_cast<double>(step);
      default:
        throw std::logic_error("fields are not given");
    }
  };
}

}  // namespace spsolve
