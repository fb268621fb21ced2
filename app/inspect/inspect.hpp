// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// The verbs that only look: none touches a GPU or steps in time, and only `plan` writes files where it is
/// asked for some. All are collective.

/// `check`: the resolved input, what would be solved, memory per rank and file sizes; files are opened and
/// their values read, by every rank those of its block.
Status check(const Communicator& communicator, const CommandLine& command);
/// `plan`: the plan and the model's numbers for every candidate, also as JSON and as a picture.
Status show_plan(const Communicator& communicator, const CommandLine& command);
/// `info`: what a file holds; file_failure if a checksum does not hold.
Status info(const Communicator& communicator, const CommandLine& command);
/// `doctor`: versions, ranks, devices, file systems.
Status doctor(const Communicator& communicator);

}  // namespace spsolve
