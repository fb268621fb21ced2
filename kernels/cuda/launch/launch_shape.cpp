// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/launch_shape.hpp"

#include <algorithm>
#include <limits>

namespace spsolve::cuda {

constexpr std::int64_t max_stretches = 1024;

std::array<Region, 2> halves(const Region& region, int axis) {
  constexpr std::int64_t granule = 64;
  Region low = region, high = region;
  low.end[axis] = high.begin[axis] =
      region.begin[axis] + round_up((region.end[axis] - region.begin[axis]) / 2, granule);
  return {low, high};
}

std::int64_t balanced_stretch(std::int64_t extent, std::int64_t tiles, std::int64_t resident,
                              std::int64_t warm_up) {
  std::int64_t best = extent, best_time = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t stretches = 1; stretches <= std::min(extent, max_stretches); ++stretches) {
    const std::int64_t length = ceil_div(extent, stretches), blocks = tiles * ceil_div(extent, length),
                       time = ceil_div(blocks, resident) * (length + warm_up);
    if (time < best_time) best_time = time, best = length;
  }
  return best;
}

namespace {

/// Returns by how many planes the first and the last of `number` stretches are shorter than the others. A
/// plane of the first or the last stretch takes 1 + `cost` times as long as another plane. With L = (planes +
/// 2 fewer) / number planes in the other stretches, equal times need (1 + cost)(L - fewer + warm_up) = L +
/// warm_up.
int fewer_planes(const SingleRowMarch& march, std::int64_t number, double cost) {
  if (number < 3) return 0;
  const double share = cost / (1 + cost);
  const double fewer = share * static_cast<double>(march.planes + number * march.warm_up) /
                       (static_cast<double>(number) - 2 * share);
  // If the end stretches were shorter than their halo, their neighbours would reach the walls too.
  const std::int64_t least = std::max<std::int64_t>(1, march.halo),
                     most = std::max<std::int64_t>(0, march.planes / number - least);
  return static_cast<int>(std::min<std::int64_t>(most, std::llround(fewer)));
}

}  // namespace

double longest_stretch(const SingleRowMarch& march, const MarchStretches& stretches) {
  const auto length = [&](int number) {
    return static_cast<double>(ceil_div(march.planes, std::int64_t{number}) + march.warm_up);
  };
  const double outer = (1 + march.wall_cost.columns) * length(stretches.of_outer.number),
               others = length(stretches.of_others.number);
  const int outer_tiles = stretches.outer_tiles();
  return outer_tiles == 0 ? others : outer_tiles == march.tiles ? outer : std::max(outer, others);
}

MarchStretches stretch_march(const SingleRowMarch& march) {
  constexpr int max_of_outer =
      4;  // stretches of an outer tile per stretch of another tile; each has a warm-up
  const auto [low, high] = march.outer;
  MarchStretches best{}, stretches{{low, high}, {1, 0}, {1, 0}};
  int &number = stretches.of_others.number, &of_outer = stretches.of_outer.number;
  double best_time = std::numeric_limits<double>::infinity();
  for (; number <= std::min(march.planes, max_stretches); ++number) {
    const auto others = static_cast<double>(ceil_div(march.planes, std::int64_t{number}) + march.warm_up);
    of_outer = std::max(of_outer, number);
    while (of_outer < std::min<std::int64_t>(march.planes, max_of_outer * number) &&
           longest_stretch(march, stretches) > others)
      ++of_outer;
    const std::int64_t blocks = stretches.blocks(march.tiles), waves = ceil_div(blocks, march.resident),
                       warps = ceil_div(std::min(blocks, march.resident), march.schedulers);
    const double time = static_cast<double>(waves) * longest_stretch(march, stretches) *
                        scheduler_time(static_cast<double>(warps), *march.costs);
    if (time < best_time) best_time = time, best = stretches;
  }
  const auto& [columns, planes] = march.wall_cost;
  best.of_outer.fewer = fewer_planes(march, best.of_outer.number, planes / (1 + columns));
  best.of_others.fewer = fewer_planes(march, best.of_others.number, planes);
  return best;
}

std::int64_t planes_of_slab(std::int64_t plane_points, std::int64_t halo) {
  constexpr std::int64_t max_points = std::int64_t{1} << 27;
  return std::max(max_points / plane_points - halo, 2 * halo + 1);
}

namespace {

// Limits the planes of a slab, because blocks that march side by side drift apart and then no longer find
// each other's halo in the cache. For star3d1r in fp32 on 1024^3 on H200, slabs of 256 to 350 planes reached
// 1,430 GStencil/s, slabs of 512 planes 1,407, one slab of 1024 planes 1,326.
constexpr std::int64_t longest_slab = 400;
constexpr std::int64_t max_short_stretches = 8;

/// Divides a march that is cut into slabs of `slab` planes. The pieces left after whole waves, of `cut`
/// planes at most, are cut into as many long stretches as there are resident blocks for. The resident blocks
/// that remain take the ends of these pieces meanwhile, each end cut into `short_stretches`.
MarchShares share_slabs(std::int64_t planes, std::int64_t slab, std::int64_t cut, std::int64_t tiles,
                        std::int64_t resident, std::int64_t warm_up, std::int64_t short_stretches) {
  const std::int64_t all = tiles * ceil_div(planes, slab), rest = all % resident;
  MarchShares shares{};
  shares.planes = static_cast<int>(slab);
  shares.tiles = static_cast<int>(tiles);
  shares.pieces = static_cast<int>(all);
  shares.whole = static_cast<int>(all - rest);
  if (rest == 0) return shares;
  const std::int64_t stretches = std::min(cut, resident / rest), others = resident - stretches * rest;
  std::int64_t length = ceil_div(cut, stretches);
  if (short_stretches > 0 && others > 0) {
    // One long stretch with its warm-up takes as long as `rounds` short ones with theirs.
    const std::int64_t rounds = ceil_div(rest * short_stretches, others);
    length = std::min(length, ceil_div(rounds * cut + (rounds - 1) * short_stretches * warm_up,
                                       short_stretches + rounds * stretches));
    const std::int64_t left = std::max<std::int64_t>(0, cut - stretches * length);
    shares.short_length = static_cast<int>(ceil_div(left, short_stretches));
    shares.short_stretches = left > 0 ? static_cast<int>(ceil_div(left, shares.short_length)) : 0;
  }
  shares.length = static_cast<int>(length);
  shares.stretches = static_cast<int>(std::min(stretches, ceil_div(cut, length)));
  return shares;
}

/// Keeps the division of a march that takes the least time, the first of equal ones.
class Quickest {
 public:
  Quickest(std::int64_t resident, std::int64_t warm_up) : resident_(resident), warm_up_(warm_up) {}

  void offer(const MarchShares& shares) {
    const std::int64_t time = march_time(shares, resident_, warm_up_).planes;
    if (time < time_) time_ = time, shares_ = shares;
  }
  const MarchShares& shares() const { return shares_; }

 private:
  std::int64_t resident_, warm_up_;
  std::int64_t time_ = std::numeric_limits<std::int64_t>::max();
  MarchShares shares_{};
};

}  // namespace

MarchShares share_march(std::int64_t planes, std::int64_t tiles, std::int64_t resident,
                        std::int64_t warm_up) {
  const std::int64_t fewest = ceil_div(planes, longest_slab);
  Quickest quickest(resident, warm_up);
  for (std::int64_t slabs = fewest; slabs <= 2 * fewest; ++slabs)
    for (std::int64_t short_stretches = 0; short_stretches <= max_short_stretches; ++short_stretches) {
      const std::int64_t slab = ceil_div(planes, slabs);
      quickest.offer(share_slabs(planes, slab, slab, tiles, resident, warm_up, short_stretches));
    }
  return quickest.shares();
}

MarchShares share_paced_march(std::int64_t planes, std::int64_t tiles, std::int64_t resident,
                              std::int64_t warm_up) {
  constexpr std::int64_t max_slabs = 64;
  Quickest quickest(resident, warm_up);
  for (std::int64_t slabs = 1; slabs <= std::min(planes, max_slabs); ++slabs) {
    const std::int64_t slab = ceil_div(planes, slabs), count = ceil_div(planes, slab),
                       last = planes - (count - 1) * slab;
    if (tiles * count % resident > tiles) continue;  // so pieces that are cut belong to the last slab
    quickest.offer(share_slabs(planes, slab, last, tiles, resident, warm_up, 0));
  }
  return quickest.shares();
}

MarchTime march_time(const MarchShares& shares, std::int64_t resident, std::int64_t warm_up) {
  const std::int64_t waves = shares.whole / resident, others = resident - shares.shared() * shares.stretches;
  MarchTime time{waves, waves * (shares.planes + warm_up)};
  if (shares.shared() == 0) return time;
  const std::int64_t rounds = shares.short_stretches > 0
                                  ? ceil_div(shares.shared() * std::int64_t{shares.short_stretches}, others)
                                  : 0;
  ++time.waves;
  time.planes += std::max(shares.length + warm_up, rounds * (shares.short_length + warm_up));
  return time;
}

}  // namespace spsolve::cuda
