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

constexpr int schedulers_of_multiprocessor = 4;
// Of a launch: kernels count columns in 32 bits; a grid of blocks has so many along its y and z.
constexpr std::int64_t most_columns = std::int64_t{1} << 30;
constexpr std::int64_t most_blocks_across = 65535;

/// A region in halves along an axis, of 128 points there at least, cut at a multiple of 64 from its
/// beginning.
std::array<Region, 2> halves(const Region& region, int axis);

/// Instructions that a scheduler issues in the time that each of `warps` warps on it needs for one. A warp
/// alone waits for its own results: it issues at two thirds of the rate of four (scheduler.alone).
inline double scheduler_time(double warps, const Calibration& costs) {
  return std::hypot(warps, costs.scheduler.alone);
}

/// Shared memory of a block that holds tiles of so many times 16 bytes (tile_io.cuh): `held` of them, and
/// where each 16 bytes come from.
constexpr int tile_bytes(int chunks, int held, int threads) {
  return 16 * chunks * held + 4 * round_up(chunks, threads);
}

/// What the blocks of a launch take of the multiprocessor that has most of them, wave after wave: time(n) of
/// n blocks, of which it has up to `at_once`.
template <class Time>
double time_of_waves(std::int64_t blocks, std::int64_t at_once, std::int64_t multiprocessors, Time&& time) {
  const std::int64_t number = ceil_div(blocks, multiprocessors), rest = number % at_once;
  return static_cast<double>(number / at_once) * time(static_cast<double>(at_once)) +
         (rest > 0 ? time(static_cast<double>(rest)) : 0.0);
}

/// Steps of a march per block such that all blocks end at about the same time: whole waves of the blocks that
/// are resident at once, each with the steps of its warm-up. `tiles` march `steps` steps.
std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up);

/// What a plane of a block beside walls takes more than one of another block, as a share of it: beside the
/// ends of rows, and near faces across the march that it takes itself.
struct WallCost {
  double columns = 0, planes = 0;
};

/// A march of tiles of one row.
struct FlatMarch {
  std::int64_t planes, tiles;
  std::array<bool, 2> outer{};        // whether the first tile is beside a wall, and whether the last is
  std::int64_t halo = 0, warm_up;     // planes
  std::int64_t resident, schedulers;  // blocks at once, of one warp each, and what issues for them
  WallCost wall_cost{};
  const Calibration* costs = &shipped_calibration();
};

/// The stretches with which blocks beside walls and others end at about the same time: whole waves of the
/// blocks that are resident at once; fewer of them leave each more of its scheduler.
MarchStretches stretch_march(const FlatMarch& march);

/// Of the blocks that take longest: their planes, warm-up included, as many as would take as long away from
/// walls.
double longest_stretch(const FlatMarch& march, const MarchStretches& stretches);

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
