// SPDX-License-Identifier: Apache-2.0
#include "solver/block.hpp"

#include <chrono>
#include <utility>

namespace spsolve {
namespace {

/// Adds the time from its construction to its destruction to a sum of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(&seconds) {}
  ~Stopwatch() {
    *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Block::Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
             const Method& method, Backend& backend)
    : communicator_(communicator), problem_(problem), decomposition_(decomposition), backend_(&backend) {
  const Box owned = decomposition.block(communicator.rank());
  const Index3& radius = problem.stencil.radius();
  collectively(communicator, [&] {
    state_ = std::make_unique<Field>(owned, method.fuse * radius, problem.precision, backend.memory());
    next_ = std::make_unique<Field>(owned, method.fuse * radius, problem.precision, backend.memory());
    if (problem.has_source)
      source_ = std::make_unique<Field>(owned, (method.fuse - 1) * radius,
                                        source_precision(problem.precision), backend.memory());
    unit_ = backend.make_unit(problem, method, source_.get());
  });
}

void Block::set_source(const FillField& fill) {
  backend_->set(*source_, fill);
  HaloExchange exchange(communicator_,
                        halo_regions(problem_.domain, decomposition_, communicator_.rank(), source_->halo()),
                        source_->precision(), backend_->transport(), backend_->packer());
  backend_->exchange_after_compute();
  exchange.copy_own_images(*source_);
  exchange.start(*source_).finish();
  backend_->compute_after_exchange();
  backend_->synchronize();
}

void Block::set_state(const FillField& fill) {
  backend_->set(*state_, fill);
  unit_->fill_ghosts(*state_, state_->owned());
  state_copy_ = previous_copy_ = nullptr;
}

std::shared_ptr<HostCopy> Block::copy_state() {
  if (!state_copy_) state_copy_ = backend_->copy_out(*state_);
  return state_copy_;
}

std::shared_ptr<HostCopy> Block::copy_previous() {
  if (!previous_copy_) previous_copy_ = backend_->copy_out(*next_);
  return previous_copy_;
}

void Block::launch(int steps) {
  Depth& now = depth(steps);
  const Box owned = state_->owned();
  PendingExchange pending = [&] {
    const Stopwatch watch(timings_.exchange);
    backend_->exchange_after_compute();
    now.exchange.copy_own_images(*state_);
    backend_->compute_after_exchange();
    // Also of rows that the last launch wrote in parts too short for the mirror images beside a wall.
    fill_halo_ghosts(steps);
    return now.exchange.start(*state_);
  }();
  {
    const Stopwatch watch(timings_.compute);
    unit_->advance(*state_, *next_, now.interior, steps);
  }
  {
    const Stopwatch watch(timings_.exchange);
    pending.finish();
    backend_->compute_after_exchange();
    fill_halo_ghosts(steps);
  }
  {
    const Stopwatch watch(timings_.compute);
    for_each_slab(owned, now.interior,
                  [&](const Box& slab) { unit_->advance(*state_, *next_, slab, steps); });
  }
  std::swap(state_, next_);
  state_copy_ = previous_copy_ = nullptr;
}

Block::Depth& Block::depth(int steps) {
  if (const auto found = depths_.find(steps); found != depths_.end()) return found->second;
  const Index3 width = steps * problem_.stencil.radius();
  const int rank = communicator_.rank();
  return depths_
      .try_emplace(
          steps, Depth{HaloExchange(communicator_, halo_regions(problem_.domain, decomposition_, rank, width),
                                    problem_.precision, backend_->transport(), backend_->packer()),
                       interior(problem_.domain, decomposition_, rank, width)})
      .first->second;
}

void Block::fill_halo_ghosts(int steps) {
  const Box owned = state_->owned();
  Box rows = problem_.domain.clip_to_walls(grow(owned, steps * problem_.stencil.radius()));
  rows.begin[x_axis] = owned.begin[x_axis];
  rows.end[x_axis] = owned.end[x_axis];
  // Where x is cut, a wall may lie in the halo, or its mirror images may: the rows of this block need them
  // too.
  if (decomposition_.rank_grid()[x_axis] > 1)
    unit_->fill_ghosts(*state_, rows);
  else
    for_each_slab(rows, owned, [&](const Box& slab) { unit_->fill_ghosts(*state_, slab); });
}

std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method) {
  const Index3 extent = decomposition.block(0).extent();  // the first block is the longest on every axis
  const Index3& radius = problem.stencil.radius();
  std::size_t bytes = 2 * field_bytes(extent, method.fuse * radius, problem.precision);
  if (!problem.has_source) return bytes;
  const Precision sums = source_precision(problem.precision);
  bytes += field_bytes(extent, (method.fuse - 1) * radius, sums);
  if (method.fused_weights()) bytes += 2 * field_bytes(extent, method.fuse * radius, sums);
  return bytes;
}

}  // namespace spsolve
