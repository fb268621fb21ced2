// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/calibration.hpp"
#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {

/// Counts the warp schedulers of a multiprocessor.
constexpr int schedulers_of_multiprocessor = 4;
// Limits the columns of a launch: kernels count columns in 32 bits, and a grid of blocks has at most 65535
// blocks along its y and its z axis.
constexpr std::int64_t max_columns = std::int64_t{1} << 30;
constexpr std::int64_t max_blocks_across = 65535;

/// Cuts a region in two along an axis, at a multiple of 64 points from its beginning. The extent must be at
/// least 128 points.
std::array<Region, 2> halves(const Region& region, int axis);

/// Returns the time that each of `warps` warps on a scheduler needs per instruction, in issue slots. A warp
/// alone waits for its own results: it issues at two thirds of the rate of four (scheduler.alone).
inline double scheduler_time(double warps, const Calibration& costs) {
  return std::hypot(warps, costs.scheduler.alone);
}

/// Returns the bytes of shared memory for `held` tiles of `chunks` chunks of 16 bytes (tile_io.cuh), plus a
/// table of 4 bytes per chunk that says where it is read from.
constexpr int tile_bytes(int chunks, int held, int threads) {
  return 16 * chunks * held + 4 * round_up(chunks, threads);
}

/// Returns the time of the busiest multiprocessor of a launch, wave after wave. A multiprocessor runs up to
/// `at_once` blocks at once; time(n) is the time of n concurrent blocks.
template <class Time>
double time_of_waves(std::int64_t blocks, std::int64_t at_once, std::int64_t multiprocessors, Time&& time) {
  const std::int64_t number = ceil_div(blocks, multiprocessors), rest = number % at_once;
  return static_cast<double>(number / at_once) * time(static_cast<double>(at_once)) +
         (rest > 0 ? time(static_cast<double>(rest)) : 0.0);
}

/// Returns the length of the stretches into which a march of `extent` planes (or chunks, or rows of tiles) is
/// cut so that all blocks end at about the same time: whole waves of the `resident` blocks, each of which
/// also takes a warm-up. `tiles` tiles march side by side.
std::int64_t balanced_stretch(std::int64_t extent, std::int64_t tiles, std::int64_t resident,
                              std::int64_t warm_up);

/// Holds the extra time of a plane in a block beside walls, relative to a plane elsewhere. `columns` applies
/// to tiles at the ends of rows; `planes` to blocks near faces across the march if the march itself makes
/// their ghost points.
struct WallCost {
  double columns = 0, planes = 0;
};

/// Describes a march of tiles of one row to stretch_march().
struct SingleRowMarch {
  std::int64_t planes, tiles;
  std::array<bool, 2> outer{};     // true if the first tile is beside a wall, and if the last is
  std::int64_t halo = 0, warm_up;  // planes
  // These are the resident blocks (one warp each), and the schedulers that issue for them.
  std::int64_t resident, schedulers;
  WallCost wall_cost{};
  const Calibration* costs = &shipped_calibration();
};

/// Chooses stretches so that blocks beside walls and other blocks end at about the same time. It prefers
/// whole waves of the resident blocks; fewer blocks per scheduler leave each block more issue slots.
MarchStretches stretch_march(const SingleRowMarch& march);

/// Returns the length of the stretch that takes longest, warm-up included, in planes away from walls that
/// would take equally long.
double longest_stretch(const SingleRowMarch& march, const MarchStretches& stretches);

/// Returns how many planes a launch of several kernels processes at a time, so that its intermediate results
/// fit in memory. A plane has `plane_points` points; a slab needs `halo` further planes.
std::int64_t planes_of_slab(std::int64_t plane_points, std::int64_t halo);

/// Divides the march of `tiles` tiles over `planes` planes so that the resident blocks end at about the same
/// time.
MarchShares share_march(std::int64_t planes, std::int64_t tiles, std::int64_t resident, std::int64_t warm_up);

/// Divides a march whose blocks keep pace with each other. All blocks of a slab that take whole pieces, and
/// all those of a stretch, have equally many planes. There are no short stretches, whose blocks would run
/// beside others that are at other planes.
MarchShares share_paced_march(std::int64_t planes, std::int64_t tiles, std::int64_t resident,
                              std::int64_t warm_up);

/// Holds the work of the resident slot that takes longest: how many blocks it runs one after the other, and
/// their planes, warm-ups included.
struct MarchTime {
  std::int64_t waves, planes;
};
MarchTime march_time(const MarchShares& shares, std::int64_t resident, std::int64_t warm_up);

}  // namespace spsolve::cuda
