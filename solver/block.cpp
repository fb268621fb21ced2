// SPDX-License-Identifier: Apache-2.0
#include "solver/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "halo/collectively.hpp"
#include "kernels/fused_unit.hpp"
#include "kernels/magnitude.hpp"
#include "kernels/wall_reflections.hpp"
#include "solver/block_memory.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {
namespace {

/// Returns the axes where units wrap indices, so that a block needs no halo. All ranks must agree, since
/// their halos depend on the axes and their GPUs may differ.
std::array<bool, 3> wrapped_axes(const Communicator& communicator, const Problem& problem,
                                 const Decomposition& decomposition, const Method& method,
                                 const Backend& backend) {
  auto wraps = backend.wrapped_axes(problem, method, decomposition.block(0).extent());
  for (bool& axis : wraps) axis = communicator.all_reduce(int{axis}, MPI_MIN) != 0;
  return wraps;
}

}  // namespace

Block::Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
             const Method& method, Backend& backend, int exchange_every)
    : communicator_(communicator),
      problem_(problem),
      method_(method),
      decomposition_(decomposition),
      backend_(&backend),
      wraps_(wrapped_axes(communicator, problem, decomposition, method, backend)),
      reach_(problem.radius()),
      steps_of_halo_(exchange_every * method.fuse) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (wraps_[axis]) reach_[axis] = 0;
  if (method.strided)
    problem_.domain = stride_domain(problem, method.fuse);
  else if (method.fused_weights())
    problem_.domain = with_wall_reflections(problem.domain, problem.stencil, method.fuse, problem.precision);
  const Box owned = decomposition.block(communicator.rank());
  collectively(communicator, [&] {
    backend.require_memory(block_bytes(problem, decomposition, method, exchange_every));
    arrays_ = StateArrays(problem, method.fuse, owned, steps_of_halo_ * reach_, backend.memory());
    const Precision sums = sum_precision(problem.precision);
    if (problem.has_source)
      source_ = std::make_unique<Field>(owned, (steps_of_halo_ - 1) * reach_, sums, backend.memory());
    if (problem.has_source && method.fused_weights())
      fused_source_ = std::make_unique<Field>(owned, arrays_.now().halo(), sums, backend.memory());
    if (problem.equations) make_coefficients();
    unit_ = make_unit(Queue::compute);
    prepare(method.fuse);
    prepare({1, problem.precision});
  });
  scales_data_ = communicator.all_reduce(int{!unit_->scaled_region(method.fuse).empty()}, MPI_MAX) != 0;
}

std::unique_ptr<Unit> Block::make_unit(Queue queue) const {
  GivenFields sources{source_.get(), fused_source_.get()};
  for (const auto& coefficient : coefficients_) sources.coefficients.push_back(coefficient.get());
  auto unit = backend_->make_unit(problem_, method_, sources, queue, wraps_);
  if (points_) unit->set_points(*points_);
  return unit;
}

void Block::make_coefficients() {
  for (std::size_t i = 0; i < problem_.equations->canonical.coefficients.size(); ++i)
    coefficients_.push_back(std::make_unique<Field>(coefficient_box(i), Index3{},
                                                    sum_precision(problem_.precision), backend_->memory(),
                                                    owned().begin[x_axis]));
}

void Block::set_coefficient(std::size_t coefficient, const FillField& fill) {
  backend_->set(*coefficients_[coefficient], fill);
}

/// Prepares the main unit only. Edge units find its compiled kernels in the cache.
void Block::prepare(int steps) const {
  const Box inner = interior(steps);
  unit_->prepare(in(), inner, steps);
  for_each_slab(valid_region(steps_of_halo_ - steps), inner,
                [&](const Box& slab) { unit_->prepare(in(), slab, steps); });
  for (int left = steps_of_halo_ - 2 * steps; left >= 0; left -= steps)  // launches without an exchange
    unit_->prepare(in(), valid_region(left), steps);
}

void Block::set_source(const FillField& fill) {
  const Box fused =
      problem_.domain.away_from_walls(valid_region(steps_of_halo_ - method_.fuse), method_.fuse * reach_);
  const Domain domain = homogeneous(problem_.domain);  // walls contribute through the reflections of the
                                                       // state
  std::unique_ptr<Unit> exact;
  if (fused_source_) {  // compiles while the source is filled
    Problem sums = problem_;
    sums.precision = source_->precision();
    sums.domain = domain;
    exact = backend_->make_unit(sums, Method(method_.fuse), {source_.get()}, Queue::compute, {});
    exact->prepare(*fused_source_, fused, method_.fuse);
  }
  backend_->set(*source_, fill);
  HaloExchange exchange = exchange_of(domain, State(*source_));
  exchange.pack(State(*source_));
  backend_->order(Queue::compute, Queue::exchange);
  PendingExchange pending = exchange.start(State(*source_));
  pending.wait();
  pending.unpack();
  backend_->order(Queue::exchange, Queue::compute);
  std::optional<Field> zero;
  if (exact) {
    zero.emplace(owned(), fused_source_->halo(), fused_source_->precision(), backend_->memory());
    make_fused_source(*exact, method_.fuse, fused, *zero, *fused_source_);
  }
  backend_->synchronize();  // before the zero field and the message buffers are destroyed
}

void Block::set_state(const FillField& fill, std::size_t field, std::int64_t step) {
  backend_->set(arrays_.now(field), fill);
  unit_->fill_ghosts(in(), owned());
  step_ = step;
  valid_steps_ = 0;
  magnitude_bound_is_known_ = stride_is_known_ = false;
}

void Block::set_previous(const FillField& fill, std::size_t field) {
  keeps_difference_ = stride_is_known_ = false;
  backend_->set(arrays_.before(field), fill);
  unit_->fill_ghosts(in(), owned());
  valid_steps_ = 0;
  previous_is_known_ = false;
}

void Block::set_points(PointTable table, AmountsOfStep amounts) {
  added_rows_ = {};
  for (const AddedPoint& point : table.added) added_rows_ = hull(added_rows_, point.at.p);
  points_ = backend_->make_points(std::move(table), std::move(amounts), arrays_.now());
  unit_->set_points(*points_);
}

void Block::work_on_points() {
  if (!points_->table().added.empty()) {
    keep_difference(false);
    stride_is_known_ = false;
    points_->add(in(), step_ - 1);
    const Box rows = intersect(added_rows_, valid_region(valid_steps_));
    // If there are filled faces, the next launch fills these ghosts anyway.
    if (!rows.empty() && !has_filled_faces()) unit_->fill_ghosts(in(), rows);
    magnitude_bound_is_known_ = false;
  }
  record();
}

State Block::in(const LaunchKind& kind) const {
  const State state = in(), next = out(kind.steps);
  if (!kind.continues_stride) return state;
  std::vector<Field*> fields(state.begin(), state.end());
  fields.insert(fields.end(), next.begin(), next.end());
  return State(std::move(fields), step_);
}

void Block::keep_difference(bool keep) {
  if (keep == keeps_difference_) return;
  unit_->swap_difference(arrays_.now(), arrays_.before(0), owned());
  keeps_difference_ = keep;
  previous_is_known_ = magnitude_bound_is_known_ = stride_is_known_ = false;
}

const Field& Block::state(std::size_t field) {
  state_copy_ = nullptr;  // frees its memory first
  state_copy_ = view(field).scan({1, problem_.precision}).copy;
  return state_copy_->host_field();
}

void Block::prepare_copies(const Sampling& sampling, int count, bool on_device) {
  backend_->prepare_copies(owned(), sampling, count, bytes_between_launches(), on_device);
}

std::size_t Block::bytes_between_launches() const {
  return field_bytes(owned().extent(), arrays_.now().halo(), sum_precision(problem_.precision));
}

int Block::minimum_scale() const {
  double largest = 0;
  for (int axis = 0; axis < axis_count; ++axis)
    if (problem_.domain.reflected[axis])
      for (const Face& face : problem_.domain.faces[axis])
        largest = std::max(largest, 4 * std::abs(face.value));
  return magnitude(static_cast<float>(std::min<double>(largest, std::numeric_limits<float>::max())));
}

void Block::share_magnitude_bound(int steps) {
  if (!scales(steps) || communicator_.size() == 1) return;
  backend_->order(Queue::compute, Queue::exchange);
  enter(Phase::exchange);
  for (Field* field : in()) backend_->transport().all_reduce_max(field->magnitude_bound());
  enter(computing_);
}

void Block::await_magnitude_bound(int steps) {
  if (scales(steps) && communicator_.size() > 1) backend_->order(Queue::exchange, Queue::compute);
}

void Block::launch(int steps) {
  const bool is_stride = method_.strided && steps == method_.fuse;
  if (method_.strided) keep_difference(is_stride);
  const LaunchKind kind{steps, steps <= valid_steps_ ? valid_steps_ : 0, previous_is_known_,
                        is_stride && stride_is_known_};
  // The first launch of its kind may compile.
  const bool first = launches_.count(kind) == 0;
  computing_ = first ? Phase::setup : backend_->queues_overlap() ? Phase::device : Phase::compute;
  enter(computing_);
  if (points_) points_->provide(step_, steps);
  Launch& launch = launch_of(kind);
  Reducer& reducer = backend_->reducer();
  if (scales(steps) && !magnitude_bound_is_known_)
    for (Field* field : in()) {
      reducer.set_magnitude_bound(*field, minimum_scale());
      reducer.raise_magnitude_bound(*field, owned());
    }
  launch.run([&] {
    if (scales(steps))
      for (Field* field : out(steps)) reducer.set_magnitude_bound(*field, minimum_scale());
    enqueue(kind);
    if (scales(steps))
      for_each_slab(owned(), intersect(unit_->scaled_region(steps), owned()), [&](const Box& band) {
        for (Field* field : out(steps)) reducer.raise_magnitude_bound(*field, band);
      });
  });
  magnitude_bound_is_known_ = scales(steps) && steps_of_halo_ == steps;  // launches with a wider halo also
                                                                         // write points of other ranks
  const int begun_with = kind.valid_steps > 0 ? kind.valid_steps : steps_of_halo_;
  valid_steps_ = method_.exchanges_in_every_launch() ? 0 : begun_with - steps;
  // After a single step the previous values are the state at the start of the launch.
  previous_is_known_ = steps == 1 && begun_with == steps_of_halo_;
  arrays_.rotate(steps);
  stride_is_known_ = began_with_difference_ = is_stride;
  step_ += steps;
  if (points_ && !unit_->works_on_points(steps)) work_on_points();
}

void Block::enqueue(const LaunchKind& kind) {
  if (kind.valid_steps == 0) return enqueue_with_exchange(kind);
  backend_->mark(Mark::begin, Queue::compute);
  share_magnitude_bound(kind.steps);
  await_magnitude_bound(kind.steps);
  for (const Mark mark : {Mark::packed, Mark::arrived, Mark::unpacked, Mark::edges})
    backend_->mark(mark, Queue::compute);
  if (writes_rows_in_parts() || has_filled_faces()) unit_->fill_ghosts(in(), valid_region(kind.valid_steps));
  unit_->advance(in(), out(kind.steps), valid_region(kind.valid_steps - kind.steps), kind.steps);
  backend_->mark(Mark::interior, Queue::compute);
}

/// Messages that need multiprocessors are sent before the interior occupies the whole device.
void Block::enqueue_with_exchange(const LaunchKind& kind) {
  const int steps = kind.steps;
  const State state = in(), read = in(kind), next = out(steps);
  HaloExchange& exchange = this->exchange(state);
  backend_->mark(Mark::begin, Queue::compute);
  share_magnitude_bound(steps);
  exchange.pack(state);
  await_magnitude_bound(steps);
  backend_->mark(Mark::packed, Queue::compute);
  backend_->order(Queue::compute, Queue::exchange);
  if (backend_->transport().uses_multiprocessors()) backend_->order(Queue::exchange, Queue::compute);
  PendingExchange pending = exchange.start(state);
  // Fused weights read the reflections that the exchange makes, and no other ghost points.
  const bool fills = !(has_filled_faces() && method_.fused_weights() && steps == method_.fuse);
  if (fills) fill_local_ghosts();
  // Ghost points beside received points are filled again after messages have arrived, so the two fills are
  // ordered.
  if (has_filled_faces()) backend_->order(Queue::compute, Queue::exchange);
  const Box inner = interior(steps);
  unit_->advance(read, next, inner, steps);
  backend_->mark(Mark::interior, Queue::compute);
  enter(Phase::exchange);
  pending.wait();
  enter(computing_);
  backend_->mark(Mark::arrived, Queue::exchange);
  pending.unpack();
  if (fills) fill_received_ghosts();
  backend_->mark(Mark::unpacked, Queue::exchange);
  backend_->order(Queue::exchange, Queue::edges);
  std::size_t edge = 0;
  for_each_slab(valid_region(steps_of_halo_ - steps), inner, [&](const Box& slab) {
    const auto& beside = edge_units_[edge++ % edge_units_.size()];
    (beside ? *beside : *unit_).advance(read, next, slab, steps);
  });
  backend_->mark(Mark::edges, Queue::edges);
  for (const Queue queue : edge_queues) backend_->order(queue, Queue::compute);
}

Launch& Block::launch_of(const LaunchKind& kind) {
  const auto [launches, is_new] = launches_.try_emplace(kind);
  if (is_new && !edge_units_[0] && interior(kind.steps) != valid_region(steps_of_halo_ - kind.steps) &&
      backend_->queues_overlap())
    std::ranges::transform(edge_queues, edge_units_.begin(), [&](Queue queue) { return make_unit(queue); });
  std::unique_ptr<Launch>& launch = launches->second[arrays_.roles()];
  if (!launch) launch = backend_->make_launch();
  return *launch;
}

HaloExchange Block::exchange_of(const Domain& domain, const State& state) {
  return {communicator_,         regions(domain, state.front().halo()), state,
          backend_->transport(), backend_->packer(Queue::compute),      backend_->packer(Queue::exchange)};
}

/// Previous values were exchanged when they were the current state, except before the first launch and after
/// launches of several steps.
HaloExchange& Block::exchange(const State& state) {
  const std::size_t fields = previous_is_known_ ? arrays_.field_count() : state.size();
  const auto known = exchanges_.find(fields);
  if (known != exchanges_.end()) return known->second;
  const State exchanged(
      std::vector<Field*>(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(fields)));
  return exchanges_.emplace(fields, exchange_of(problem_.domain, exchanged)).first->second;
}

Box Block::valid_region(int steps) const {
  return problem_.domain.clip_to_walls(grow(owned(), steps * reach_));
}

Box Block::interior(int steps) const {
  Box inner = spsolve::interior(problem_.domain, decomposition_, communicator_.rank(), steps * reach_);
  if (inner.empty()) return inner;
  const Box all = valid_region(steps_of_halo_ - steps);
  for (int axis = 0; axis < axis_count; ++axis)
    if (decomposition_.rank_grid()[axis] == 1) {
      inner.begin[axis] = all.begin[axis];
      inner.end[axis] = all.end[axis];
    }
  return inner;
}

HaloRegions Block::regions(const Domain& domain, const Index3& width) const {
  const bool slabs =
      backend_->transport().supports_boxes() && reaches_next_blocks_only(decomposition_, width);
  return (slabs ? slab_regions : halo_regions)(domain, decomposition_, communicator_.rank(), width);
}

Box Block::local_rows() const {
  Index3 width = arrays_.now().halo();
  for (int axis = 0; axis < axis_count; ++axis)
    if (decomposition_.rank_grid()[axis] > 1) width[axis] = 0;
  return halo_rows(width);
}

Box Block::halo_rows(Index3 width) const {
  width[x_axis] = 0;
  return problem_.domain.clip_to_walls(grow(owned(), width));
}

void Block::fill_local_ghosts() {
  const Box owned = this->owned(), rows = local_rows();
  if (writes_rows_in_parts() || has_filled_faces())
    unit_->fill_ghosts(in(), rows);
  else
    for_each_slab(rows, owned, [&](const Box& slab) { unit_->fill_ghosts(in(), slab); });
}

void Block::fill_received_ghosts() {
  const Index3& width = arrays_.now().halo();
  const Box rows = halo_rows(width);
  const Unit& unit = edge_units_.back() ? *edge_units_.back() : *unit_;  // on the exchange queue
  if (has_filled_faces()) {
    bool receives = false;
    for (int axis = 0; axis < axis_count; ++axis)
      receives = receives || (decomposition_.rank_grid()[axis] > 1 && width[axis] > 0);
    if (receives) unit.fill_ghosts(in(), rows);
    return;
  }
  // If blocks are thinner than the halo, walls or the mirror images of ghost points may lie in the received
  // halo.
  const bool thin = problem_.domain.shape[x_axis] / decomposition_.rank_grid()[x_axis] < width[x_axis];
  if (decomposition_.rank_grid()[x_axis] > 1 && thin)
    unit.fill_ghosts(in(), rows);
  else
    for_each_slab(rows, local_rows(), [&](const Box& slab) { unit.fill_ghosts(in(), slab); });
}

}  // namespace spsolve
