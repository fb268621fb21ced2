// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// These verbs solve nothing: none touches a GPU or steps in time, and only `plan` writes files if asked to.
/// All are collective.

/// Carries out `check`: prints the resolved input, the problem, memory per rank and file sizes. Files are
/// opened and their values read, by every rank those of its block.
Status check(const Communicator& communicator, const CommandLine& command);
/// Carries out `plan`: prints the plan and the model's numbers for every candidate, and writes them as JSON
/// and as a picture if asked to.
Status show_plan(const Communicator& communicator, const CommandLine& command);
/// Carries out `info`: describes a file, and returns file_failure if a checksum does not hold.
Status info(const Communicator& communicator, const CommandLine& command);
/// Carries out `doctor`: prints versions, ranks, devices and file systems.
Status doctor(const Communicator& communicator);

}  // namespace spsolve
