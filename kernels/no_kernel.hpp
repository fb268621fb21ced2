// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "kernels/error.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Says why no kernel does what is asked for: its text continues the message "no kernel does this: ".
struct NoKernel {
  std::string why;
};

/// Returns the reason of a method whose fused weights all round to zero.
inline NoKernel too_small_weights(Precision precision) {
  return {"the fused weights are too small for " + std::string(to_string(precision)) +
          ": all of them round to zero"};
}

/// Holds the object that a factory made, or the reason why it made none.
template <class Value>
using OrNoKernel = std::variant<Value, NoKernel>;

/// Returns the object that a factory made, for callers that cannot go on without it. Throws
/// Error(invalid_input) with the reason if there is none.
template <class Value>
Value required(OrNoKernel<Value> made) {
  if (const auto* none = std::get_if<NoKernel>(&made)) throw Error(Status::invalid_input, none->why);
  return std::get<Value>(std::move(made));
}

}  // namespace spsolve
