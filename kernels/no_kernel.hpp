// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "kernels/error.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Why no kernel does what is asked for: words that go on after "no kernel does this: ".
struct NoKernel {
  std::string why;
};

/// Returns the reason where all fused weights round to zero.
inline NoKernel too_small_weights(Precision precision) {
  return {"the weights of so many fused steps are too small for " + std::string(to_string(precision))};
}

/// What a factory made, or why it made nothing.
template <class Made>
using MadeOr = std::variant<Made, NoKernel>;

/// Returns what a factory made, for callers that cannot do without. Throws Error(invalid_input) with the
/// reason where it made nothing.
template <class Made>
Made required(MadeOr<Made> made) {
  if (const auto* none = std::get_if<NoKernel>(&made)) throw Error(Status::invalid_input, none->why);
  return std::get<Made>(std::move(made));
}

}  // namespace spsolve
