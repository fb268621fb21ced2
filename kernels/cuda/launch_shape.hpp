// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/arguments.hpp"
#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {

constexpr int schedulers_of_multiprocessor = 4;
constexpr std::int64_t most_blocks_across = 65535;  // of a launch, along its y and z

/// Instructions that a scheduler issues in the time that each of `warps` warps on it needs for one: a warp
/// alone waits for its own results. Measured on H200: one warp issues at two thirds of the rate of four.
inline double scheduler_time(double warps) { return std::hypot(warps, 1.08); }

/// Steps of a march per block such that all blocks end at about the same time: whole waves of the blocks that
/// are resident at once, each with the steps of its warm-up. `tiles` march `steps` steps. `schedulers`: of
/// the device, where blocks are one warp each: fewer of them leave each more of its scheduler. 0: a wave
/// takes as long however full it is.
std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up, std::int64_t schedulers = 0);

/// Blocks that a march of a 2D grid has more than tiles of columns, to share the tiles beside walls: blocks
/// there take longer per plane, longest in deep tiles of fp64 beside dirichlet faces, and would end last.
std::int64_t blocks_beside_walls(const std::array<Wall, 2>& walls, std::int64_t column_tiles, int depth,
                                 int compute_bytes);

/// Planes that a launch of several kernels takes at a time, since what it keeps between them has to fit, of
/// `plane_points` points each and `halo` planes more.
std::int64_t planes_of_slab(std::int64_t plane_points, std::int64_t halo);

/// The shares of `tiles` with which the blocks that are resident at once end at about the same time.
MarchShares share_march(std::int64_t steps, std::int64_t tiles, std::int64_t resident, std::int64_t warm_up);

/// Of the multiprocessor that takes longest: its blocks one after the other, and their steps, warm-ups
/// included.
struct MarchTime {
  std::int64_t waves, steps;
};
MarchTime march_time(const MarchShares& shares, std::int64_t resident, std::int64_t warm_up);

}  // namespace spsolve::cuda
