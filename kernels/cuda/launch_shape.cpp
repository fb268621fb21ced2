// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch_shape.hpp"

#include <algorithm>
#include <limits>

namespace spsolve::cuda {

std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up, std::int64_t schedulers) {
  const auto wave_time = [&](std::int64_t blocks) {
    return schedulers ? scheduler_time(static_cast<double>(pieces(blocks, schedulers))) : 1.0;
  };
  std::int64_t best = steps;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::int64_t stretches = 1; stretches <= std::min<std::int64_t>(steps, 1024); ++stretches) {
    const std::int64_t length = pieces(steps, stretches), blocks = tiles * pieces(steps, length);
    const double time = static_cast<double>(pieces(blocks, resident) * (length + warm_up)) *
                        wave_time(std::min(blocks, resident));
    if (time < best_time) best_time = time, best = length;
  }
  return best;
}

std::int64_t blocks_beside_walls(const std::array<Wall, 2>& walls, std::int64_t column_tiles, int depth,
                                 int compute_bytes) {
  const auto [low, high] = walls;
  if (low == Wall::none || column_tiles == 1) return 0;
  const bool slow = compute_bytes == 8 && depth > 4 && (low == Wall::dirichlet || high == Wall::dirichlet);
  return slow ? 4 : 2;
}

std::int64_t planes_of_slab(std::int64_t plane_points, std::int64_t halo) {
  constexpr std::int64_t most_points = std::int64_t{1} << 27;
  return std::max(most_points / plane_points - halo, 2 * halo + 1);
}

namespace {

// Blocks that march side by side drift apart, and then no longer find each other's halo in the cache: of
// star3d1r in fp32 on 1024^3, slabs of 256 to 350 planes did 1,430 GStencil/s on H200, of 512 1,407, one of
// 1024 1,326.
constexpr std::int64_t longest_slab = 400;
constexpr std::int64_t most_short_stretches = 8;

/// Shares of a march of that many slabs. What is left after whole waves of pieces is marched in as many whole
/// stretches as there are multiprocessors for; the other multiprocessors meanwhile take the ends of these
/// pieces, each in `short_stretches`.
MarchShares share_slabs(std::int64_t steps, std::int64_t slabs, std::int64_t tiles, std::int64_t resident,
                        std::int64_t warm_up, std::int64_t short_stretches) {
  const std::int64_t slab = pieces(steps, slabs), all = tiles * pieces(steps, slab), rest = all % resident;
  MarchShares shares{};
  shares.steps = static_cast<int>(slab);
  shares.tiles = static_cast<int>(tiles);
  shares.pieces = static_cast<int>(all);
  shares.whole = static_cast<int>(all - rest);
  if (rest == 0) return shares;
  const std::int64_t stretches = std::min(slab, resident / rest), others = resident - stretches * rest;
  std::int64_t length = pieces(slab, stretches);
  if (short_stretches > 0 && others > 0) {
    // One long stretch and its warm-up take as long as that many short ones and theirs.
    const std::int64_t rounds = pieces(rest * short_stretches, others);
    length = std::min(length, pieces(rounds * slab + (rounds - 1) * short_stretches * warm_up,
                                     short_stretches + rounds * stretches));
    const std::int64_t left = std::max<std::int64_t>(0, slab - stretches * length);
    shares.short_length = static_cast<int>(pieces(left, short_stretches));
    shares.short_stretches = left > 0 ? static_cast<int>(pieces(left, shares.short_length)) : 0;
  }
  shares.length = static_cast<int>(length);
  shares.stretches = static_cast<int>(std::min(stretches, pieces(slab, length)));
  return shares;
}

}  // namespace

MarchShares share_march(std::int64_t steps, std::int64_t tiles, std::int64_t resident, std::int64_t warm_up) {
  const std::int64_t fewest = pieces(steps, longest_slab);
  MarchShares best{};
  std::int64_t best_time = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t slabs = fewest; slabs <= 2 * fewest; ++slabs)
    for (std::int64_t short_stretches = 0; short_stretches <= most_short_stretches; ++short_stretches) {
      const MarchShares shares = share_slabs(steps, slabs, tiles, resident, warm_up, short_stretches);
      const std::int64_t time = march_time(shares, resident, warm_up).steps;
      if (time < best_time) best_time = time, best = shares;
    }
  return best;
}

MarchTime march_time(const MarchShares& shares, std::int64_t resident, std::int64_t warm_up) {
  const std::int64_t waves = shares.whole / resident, others = resident - shares.shared() * shares.stretches;
  MarchTime time{waves, waves * (shares.steps + warm_up)};
  if (shares.shared() == 0) return time;
  const std::int64_t rounds =
      shares.short_stretches > 0 ? pieces(shares.shared() * std::int64_t{shares.short_stretches}, others) : 0;
  ++time.waves;
  time.steps += std::max(shares.length + warm_up, rounds * (shares.short_length + warm_up));
  return time;
}

}  // namespace spsolve::cuda
