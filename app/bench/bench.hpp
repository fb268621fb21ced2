// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/options.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Runs the verb `bench`. It reports the median time of repeated runs, and the error of the result against
/// the fp64 reference on the same data. The data exceed the caches. Times include halo exchange and
/// boundaries, but neither setup nor files. Collective.
Status bench(const Communicator& communicator, const BenchRequest& request);

}  // namespace spsolve
