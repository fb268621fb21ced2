// SPDX-License-Identifier: Apache-2.0
#include "solver/exchange_interval.hpp"

#include <algorithm>

namespace spsolve {
namespace {

// Measured on H200 (docs/scaling.md): what a launch with an exchange takes beyond one without, with other
// ranks and where a rank only copies its own periodic images, and how fast halos travel.
constexpr double seconds_of_exchange = 35e-6, seconds_of_own_images = 8e-6;
constexpr double bytes_per_second = 110e9;
constexpr int most_launches = 8;

}  // namespace

int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu) {
  const Domain& domain = problem.domain;
  const Index3& ranks = decomposition.rank_grid();
  const Index3 extent = decomposition.block(0).extent();
  const double points = static_cast<double>(volume(extent));
  const double launch_seconds = candidate.seconds * candidate.fuse * points;
  // Points of a block and of what surrounds it when its halo is good for so many steps.
  const auto known_points = [&](int steps) {
    double known = 1;
    for (int axis = 0; axis < axis_count; ++axis) {
      const bool grows = domain.periodic(axis) || ranks[axis] > 1;
      known *= static_cast<double>(extent[axis] + (grows ? 2 * steps * problem.stencil.radius()[axis] : 0));
    }
    return known;
  };
  const bool alone = decomposition.ranks() == 1;
  if (!gpu || candidate.exchanges_in_every_launch() || known_points(1) == points) return 1;
  int best = 1;
  double least = 0, computed = 0;
  for (int launches = 1; launches <= most_launches; ++launches) {
    const int steps = launches * candidate.fuse;
    bool thin = false;
    for (int axis = 0; axis < axis_count; ++axis)
      thin = thin || steps * problem.stencil.radius()[axis] > extent[axis];
    if (thin) break;
    computed += known_points(steps - candidate.fuse) / points;
    const double bytes =
        (known_points(steps) - points) * static_cast<double>(storage_bytes(problem.precision));
    const double not_hidden = alone ? 0 : std::max(0.0, bytes / bytes_per_second - launch_seconds);
    const double seconds =
        (computed * launch_seconds + not_hidden + (alone ? seconds_of_own_images : seconds_of_exchange)) /
        launches;
    if (launches > 1 && seconds >= least) break;
    least = seconds;
    best = launches;
  }
  return best;
}

}  // namespace spsolve
