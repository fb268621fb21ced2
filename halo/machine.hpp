// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "halo/communicator.hpp"

namespace spsolve {

/// Returns the name of this rank's machine.
std::string host_name();
/// Calls `work` with a communicator of the ranks that share this rank's machine. Collective.
void on_this_machine(const Communicator& communicator,
                     const std::function<void(const Communicator& machine)>& work);
/// Returns the number of ranks that share this rank's machine, including this one. Collective.
int ranks_on_this_machine(const Communicator& communicator);
/// Returns this rank's number among the ranks of its machine, from 0. Collective.
int rank_on_this_machine(const Communicator& communicator);

}  // namespace spsolve
