// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Runs `bench`: reports medians of repeated runs over data beyond the caches, halo exchange and boundaries
/// included, setup and files excluded, with the error of the result against the fp64 reference on the same
/// data. Collective.
Status bench(const Communicator& communicator, const BenchRequest& request);

}  // namespace spsolve
