// SPDX-License-Identifier: Apache-2.0
#include "solver/block.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace spsolve {
namespace {

/// The regions without those that are periodic images along x of whole rows of the block itself.
HaloRegions without_row_images(const HaloRegions& all, int rank, const Box& owned) {
  const auto row_images = [&](const HaloRegion& received) {
    return received.peer == rank && received.box.begin[0] == owned.begin[0] &&
           received.box.end[0] == owned.end[0] && received.box.begin[1] == owned.begin[1] &&
           received.box.end[1] == owned.end[1];
  };
  // The k-th region that a rank sends to itself is the k-th that it receives from itself.
  HaloRegions rest;
  auto received = all.receive.begin();
  for (const HaloRegion& sent : all.send) {
    if (sent.peer == rank) {
      received = std::find_if(received, all.receive.end(),
                              [&](const HaloRegion& region) { return region.peer == rank; });
      if (row_images(*received++)) continue;
    }
    rest.send.push_back(sent);
  }
  std::copy_if(all.receive.begin(), all.receive.end(), std::back_inserter(rest.receive),
               [&](const HaloRegion& region) { return !row_images(region); });
  return rest;
}

}  // namespace

Block::Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
             const Method& method, Backend& backend)
    : communicator_(communicator),
      problem_(problem),
      method_(method),
      decomposition_(decomposition),
      backend_(&backend) {
  const Box owned = decomposition.block(communicator.rank());
  const Index3& radius = problem.stencil.radius();
  collectively(communicator, [&] {
    backend.require_memory(block_bytes(problem, decomposition, method));
    state_ = std::make_unique<Field>(owned, method.fuse * radius, problem.precision, backend.memory());
    next_ = std::make_unique<Field>(owned, method.fuse * radius, problem.precision, backend.memory());
    if (problem.has_source)
      source_ = std::make_unique<Field>(owned, (method.fuse - 1) * radius,
                                        source_precision(problem.precision), backend.memory());
    unit_ = backend.make_unit(problem, method, source_.get(), Queue::compute);
  });
}

void Block::set_source(const FillField& fill) {
  backend_->set(*source_, fill);
  HaloExchange exchange(communicator_, regions(source_->halo()), source_->precision(), backend_->transport(),
                        backend_->packer());
  backend_->order(Queue::compute, Queue::exchange);
  exchange.pack(*source_);
  PendingExchange pending = exchange.start(*source_);
  pending.wait();
  pending.unpack();
  backend_->order(Queue::exchange, Queue::compute);
  backend_->synchronize();
}

void Block::set_state(const FillField& fill) {
  backend_->set(*state_, fill);
  unit_->fill_ghosts(*state_, state_->owned());
  if (unit_->writes_row_images(*state_)) {
    HaloExchange exchange(communicator_, regions(state_->halo()), problem_.precision, backend_->transport(),
                          backend_->packer());
    backend_->order(Queue::compute, Queue::exchange);
    exchange.pack(*state_);
    backend_->order(Queue::exchange, Queue::compute);
    backend_->synchronize();
  }
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
  // The first launch of its kind may compile.
  const bool known = depths_.count(steps) > 0;
  computing_ = !known ? Phase::setup : backend_->queues_overlap() ? Phase::device : Phase::compute;
  enter(computing_);
  Depth& now = depth(steps);
  now.launches[swapped_]->run([&] { enqueue(now, steps); });
  std::swap(state_, next_);
  swapped_ = !swapped_;
  state_copy_ = previous_copy_ = nullptr;
}

/// The interior begins when packing is done, so that sending, which needs a small part of the device, begins
/// first.
void Block::enqueue(Depth& depth, int steps) {
  backend_->order(Queue::compute, Queue::exchange);
  backend_->mark(Mark::begin);
  depth.exchange.pack(*state_);
  backend_->mark(Mark::packed);
  backend_->order(Queue::exchange, Queue::compute);
  PendingExchange pending = depth.exchange.start(*state_);
  fill_ghosts_at_hand(steps);
  unit_->advance(*state_, *next_, depth.interior, steps);
  backend_->mark(Mark::interior);
  enter(Phase::exchange);
  pending.wait();
  enter(computing_);
  backend_->mark(Mark::arrived);
  pending.unpack();
  backend_->mark(Mark::unpacked);
  backend_->order(Queue::exchange, Queue::edges);
  fill_ghosts_of_arrived(steps);
  const Unit& edge_unit = edge_unit_ ? *edge_unit_ : *unit_;
  for_each_slab(state_->owned(), depth.interior,
                [&](const Box& slab) { edge_unit.advance(*state_, *next_, slab, steps); });
  backend_->mark(Mark::edges);
  backend_->order(Queue::edges, Queue::compute);
}

Block::Depth& Block::depth(int steps) {
  if (const auto found = depths_.find(steps); found != depths_.end()) return found->second;
  const Index3 width = steps * problem_.stencil.radius();
  const int rank = communicator_.rank();
  const Box inner = interior(problem_.domain, decomposition_, rank, width);
  if (!edge_unit_ && inner != state_->owned() && backend_->queues_overlap())
    edge_unit_ = backend_->make_unit(problem_, method_, source_.get(), Queue::edges);
  const HaloRegions moved = unit_->writes_row_images(*state_)
                                ? without_row_images(regions(width), rank, state_->owned())
                                : regions(width);
  return depths_
      .try_emplace(steps, Depth{HaloExchange(communicator_, moved, problem_.precision, backend_->transport(),
                                             backend_->packer()),
                                inner,
                                {backend_->make_launch(), backend_->make_launch()}})
      .first->second;
}

HaloRegions Block::regions(const Index3& width) const {
  return halo_regions(problem_.domain, decomposition_, communicator_.rank(), width);
}

Box Block::rows_at_hand(int steps) const {
  Index3 width = steps * problem_.stencil.radius();
  for (int axis = 0; axis < axis_count; ++axis)
    if (decomposition_.rank_grid()[axis] > 1) width[axis] = 0;
  return rows_of(width);
}

Box Block::rows_of(Index3 width) const {
  width[x_axis] = 0;
  return problem_.domain.clip_to_walls(grow(state_->owned(), width));
}

void Block::fill_ghosts_at_hand(int steps) {
  const Box owned = state_->owned(), rows = rows_at_hand(steps);
  // Where x is cut, the last launch wrote rows in parts that may be too short for their mirror images.
  if (decomposition_.rank_grid()[x_axis] > 1)
    unit_->fill_ghosts(*state_, rows);
  else
    for_each_slab(rows, owned, [&](const Box& slab) { unit_->fill_ghosts(*state_, slab); });
}

void Block::fill_ghosts_of_arrived(int steps) {
  const Index3 width = steps * problem_.stencil.radius();
  const Box rows = rows_of(width);
  // Next to blocks thinner than the halo, walls or what they mirror may lie in what arrived.
  const bool thin = problem_.domain.shape[x_axis] / decomposition_.rank_grid()[x_axis] < width[x_axis];
  if (decomposition_.rank_grid()[x_axis] > 1 && thin)
    unit_->fill_ghosts(*state_, rows);
  else
    for_each_slab(rows, rows_at_hand(steps), [&](const Box& slab) { unit_->fill_ghosts(*state_, slab); });
}

std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method) {
  const Index3 extent = decomposition.block(0).extent();  // the first block is the longest on every axis
  const Index3& radius = problem.stencil.radius();
  std::size_t bytes = 2 * field_bytes(extent, method.fuse * radius, problem.precision);
  if (!problem.has_source) return bytes;
  const Precision sums = source_precision(problem.precision);
  bytes += field_bytes(extent, (method.fuse - 1) * radius, sums);
  if (method.fused_weights()) bytes += 3 * field_bytes(extent, method.fuse * radius, sums);
  return bytes;
}

}  // namespace spsolve
