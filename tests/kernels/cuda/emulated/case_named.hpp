// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace spsolve::cuda {

/// Returns the case of this name; throws std::invalid_argument if there is none.
template <class Case, std::size_t count>
const Case& case_named(std::string_view name, const Case (&cases)[count]) {
  for (const Case& c : cases)
    if (c.name() == name) return c;
  throw std::invalid_argument("no case " + std::string(name));
}

}  // namespace spsolve::cuda
