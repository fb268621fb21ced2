// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/exchange_interval.hpp"

namespace spsolve {
namespace {

constexpr int max_launches = 8;

/// Returns the points of the largest block and around it, when its halo is good for `steps` steps. Points
/// around it are periodic copies of the block's own points and, if `with_others`, points of other ranks.
double points_around(const Problem& problem, const Decomposition& decomposition, const Candidate& candidate,
                     int steps, bool with_others) {
  const Index3 extent = decomposition.block(0).extent();
  double product = 1;
  for (int axis = 0; axis < axis_count; ++axis) {
    const bool grows = decomposition.rank_grid()[axis] > 1
                           ? with_others
                           : problem.domain.has_periodic_copies(axis, candidate.wraps);
    product *= static_cast<double>(extent[axis] + (grows ? 2 * steps * problem.radius()[axis] : 0));
  }
  return product;
}

}  // namespace

SharedExchange share_exchange(const Problem& problem, const Decomposition& decomposition,
                              const Candidate& candidate, int launches) {
  const double points = static_cast<double>(volume(decomposition.block(0).extent()));
  const double whole = candidate.seconds * candidate.fuse * points;
  // Periodic copies of the ends of rows are made before messages leave.
  const bool with_copies = decomposition.ranks() > 1 && decomposition.rank_grid()[x_axis] == 1;
  const double copies = with_copies ? candidate.copy_seconds * candidate.fuse * points : 0;
  SharedExchange shared{launches, whole - copies, copies, 0};
  for (int launch = 0; launch < launches; ++launch)
    shared.compute_seconds += shared.launch_seconds / points *
                              points_around(problem, decomposition, candidate, launch * candidate.fuse, true);
  const int steps = launches * candidate.fuse;
  // After a single step its neighbours know the previous values, as the state that they received.
  const std::size_t arrays = steps > 1 && !candidate.strided ? problem.state_count() : problem.field_count();
  shared.received_bytes = static_cast<double>(arrays * storage_bytes(problem.precision)) *
                          (points_around(problem, decomposition, candidate, steps, true) -
                           points_around(problem, decomposition, candidate, steps, false));
  return shared;
}

int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu) {
  const Index3 extent = decomposition.block(0).extent();
  if (!gpu || candidate.exchanges_in_every_launch() ||
      points_around(problem, decomposition, candidate, 1, true) == static_cast<double>(volume(extent)))
    return 1;
  const Calibration::Exchange& costs = shipped_calibration().exchange;  // ranks have to agree
  int best = 1;
  double least = 0;
  for (int launches = 1; launches <= max_launches; ++launches) {
    for (int axis = 0; axis < axis_count; ++axis)
      if (launches * candidate.fuse * problem.radius()[axis] > extent[axis]) return best;
    const SharedExchange shared = share_exchange(problem, decomposition, candidate, launches);
    const double overhead = decomposition.ranks() == 1 ? costs.own_images : costs.overhead;
    const double seconds = shared.seconds_per_launch(shared.received_bytes / costs.min_bandwidth, overhead);
    if (launches > 1 && seconds >= least) break;
    least = seconds;
    best = launches;
  }
  return best;
}

}  // namespace spsolve
