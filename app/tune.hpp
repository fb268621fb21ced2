// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup.hpp"
#include "app/terminal.hpp"

namespace spsolve {

/// The plan's best few candidates, timed on the real grid and these ranks: the fastest, with its seconds per
/// point and step as measured. The same on every rank. Collective.
Candidate fastest_candidate(const Communicator& communicator, const Problem& problem, const Plan& plan,
                            const std::optional<Index3>& ranks, Backend& backend, const Terminal& terminal);

/// The plan with the fastest candidate, as JSON to go on with. It is remembered for the same problem on as
/// many of the same devices ($XDG_CACHE_HOME/spsolve/tuned-<key>.json) and taken from there the next time.
/// Collective.
std::string tuned_plan(const Communicator& communicator, const Setup& setup, const Terminal& terminal);

}  // namespace spsolve
