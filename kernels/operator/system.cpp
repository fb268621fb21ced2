// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/system.hpp"

#include <algorithm>

namespace spsolve {

bool same_statements(const System& a, const System& b) {
  if (a.dimensions != b.dimensions || a.fields != b.fields) return false;
  std::vector<int> coefficients;  // by number in `b`; those that `a` lacks follow its own
  for (const std::string& name : b.coefficients) {
    const auto found = std::ranges::find(a.coefficients, name);
    coefficients.push_back(static_cast<int>(found == a.coefficients.end()
                                                ? a.coefficients.size() + coefficients.size()
                                                : found - a.coefficients.begin()));
  }
  Terms terms = a.terms;
  const std::vector<TermId> terms_of_b = terms.add_all(b.terms, coefficients);
  return std::ranges::equal(a.statements, b.statements, [&](const Statement& one, const Statement& other) {
    return one.field == other.field && one.value == terms_of_b[other.value];
  });
}

}  // namespace spsolve
