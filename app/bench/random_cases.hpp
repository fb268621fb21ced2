// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "app/bench/bench_case.hpp"

namespace spsolve {

/// Returns random problems, the same for the same seed: 1D to 3D, radii 1 to 6, stars, boxes of full and of
/// low rank, sparse and one-sided stencils, weights with and without symmetry, grids of any shape from 2e4 to
/// 5e7 points (on CPUs 1e6), all walls, all precisions, some with a source. The cases measure how good plans
/// are on problems that the constants of the model were not fitted to. Cases are named SEED.NUMBER and the
/// kind of stencil.
std::vector<BenchCase> random_cases(std::uint64_t seed, bool cuda);

}  // namespace spsolve
