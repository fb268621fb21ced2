// SPDX-License-Identifier: Apache-2.0
#include "solver/exchange_interval.hpp"

#include <algorithm>

namespace spsolve {
namespace {

// Measured on H200 (docs/scaling.md): what a launch with an exchange takes beyond one without, with other
// ranks (beside copying images of the ends of rows) and where a rank only copies its own periodic images, and
// how fast halos travel over NVLink at the least.
constexpr double seconds_of_exchange = 35e-6, seconds_of_own_images = 8e-6;
constexpr double bytes_per_second = 250e9;
constexpr int most_launches = 8;

}  // namespace

int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu) {
  const Domain& domain = problem.domain;
  const Index3& ranks = decomposition.rank_grid();
  const Index3 extent = decomposition.block(0).extent();
  const double points = static_cast<double>(volume(extent));
  const bool alone = decomposition.ranks() == 1;
  // Images of the ends of rows are copied before messages leave.
  const double images = alone || ranks[x_axis] > 1 ? 0 : candidate.image_seconds * candidate.fuse * points;
  const double launch_seconds = candidate.seconds * candidate.fuse * points - images;
  // Points of a block with what surrounds it when its halo is good for so many steps, and those that come
  // from other ranks.
  const auto points_around = [&](int steps, bool with_others) {
    double product = 1;
    for (int axis = 0; axis < axis_count; ++axis) {
      const bool grows = ranks[axis] > 1 ? with_others : domain.has_images(axis, candidate.rows_repeat);
      product *= static_cast<double>(extent[axis] + (grows ? 2 * steps * problem.stencil.radius()[axis] : 0));
    }
    return product;
  };
  const auto known_points = [&](int steps) { return points_around(steps, true); };
  const auto received_points = [&](int steps) { return known_points(steps) - points_around(steps, false); };
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
    const double bytes = received_points(steps) * static_cast<double>(storage_bytes(problem.precision));
    const double not_hidden = std::max(0.0, bytes / bytes_per_second - launch_seconds);
    const double seconds = (computed * launch_seconds + not_hidden + images +
                            (alone ? seconds_of_own_images : seconds_of_exchange)) /
                           launches;
    if (launches > 1 && seconds >= least) break;
    least = seconds;
    best = launches;
  }
  return best;
}

}  // namespace spsolve
