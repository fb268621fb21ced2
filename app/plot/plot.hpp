// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Carries out `plot`: draws a snapshot, a checkpoint, probes, or the last snapshot of a directory or of a
/// series, and writes a PNG file. Rank 0 does all of the work. Collective; every rank throws the same Error.
Status plot(const Communicator& communicator, const CommandLine& command);

}  // namespace spsolve
