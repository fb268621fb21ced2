// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/values/values.hpp"
#include "io/checkpoint.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Receives the facts of values that were read, by the names of value_sections().
using TakeFacts = std::function<void(const std::string& section, const ValueFacts& facts)>;

/// Sets the values that a run begins with: source and coefficients from the input, the fields from the input
/// or from a checkpoint. Collective.
void fill_block(const Communicator& communicator, const RunConfig& config, const Problem& problem,
                const std::optional<Checkpoint>& restart, Block& block, const TakeFacts& take);

}  // namespace spsolve
