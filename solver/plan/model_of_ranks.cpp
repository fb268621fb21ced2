// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/model_of_ranks.hpp"

#include "solver/plan/exchange_interval.hpp"

namespace spsolve {

Scaling scale(const Problem& problem, const DeviceModel& device, const Candidate& candidate, int ranks) {
  const Index3& shape = problem.domain.shape;
  Scaling scaling{min_surface_rank_grid(shape, ranks, candidate.fuse * problem.radius(),
                                        device.gpu ? gpu_face_cost : Index3{1, 1, 1})};
  const Decomposition decomposition(shape, scaling.rank_grid);
  scaling.block = decomposition.block(0).extent();

  // `part` is the problem of the largest block. Small blocks take longer than their share of the candidate's
  // seconds on the whole grid.
  Problem part = problem;
  part.precision = candidate.precision;
  Candidate known{Method(candidate)};  // for ranks that did not make the plan
  known.seconds = candidate.seconds;
  scaling.exchange_every = launches_per_exchange(part, decomposition, known, device.gpu);
  Candidate on_block = candidate;
  const double on_whole = evaluate(part, device, candidate).seconds;
  part.domain.shape = scaling.block;
  const Candidate model = evaluate(part, device, candidate);
  on_block.seconds *= model.seconds / on_whole;
  on_block.copy_seconds = model.copy_seconds;

  scaling.launch_seconds = on_block.seconds * candidate.fuse * static_cast<double>(volume(scaling.block));
  if (ranks > 1) {
    const SharedExchange shared = share_exchange(part, decomposition, on_block, scaling.exchange_every);
    const bool one_node = ranks <= static_cast<int>(device.ranks_per_node);
    scaling.sent_bytes = shared.received_bytes / scaling.exchange_every;
    scaling.exchange_seconds = device.exchange_seconds(shared.received_bytes, one_node);
    scaling.hidden = scaling.exchange_seconds <= shared.launch_seconds;
    scaling.launch_seconds = shared.seconds_per_launch(
        scaling.exchange_seconds, device.gpu
                                      ? shipped_calibration().exchange.overhead
                                      : shipped_calibration().cpu.exchange_launches * device.launch_seconds);
  }
  scaling.rate = static_cast<double>(problem.domain.box().points()) * candidate.fuse / scaling.launch_seconds;
  return scaling;
}

}  // namespace spsolve
