// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>

#include "halo/exchange.hpp"
#include "halo/watchdog.hpp"
#include "solver/backend.hpp"
#include "solver/box_values.hpp"
#include "solver/diagnostics.hpp"
#include "solver/state_arrays.hpp"

namespace spsolve {

/// Lists the queues that edges alternate between. On a single queue, each edge would wait for the tail of the
/// previous one. Ghost points beside received points are filled on the last queue.
constexpr std::array edge_queues{Queue::edges, Queue::exchange};

/// Advances one rank's block of the grid. It owns the arrays of every field of the problem (StateArrays), the
/// units that compute them, and the halo exchange. Between strides (StridedUnit) the block keeps the
/// difference to the values one step before. When a caller asks for these values, they are computed from the
/// difference, and the next stride starts from them.
///
/// Halos are wide enough for `exchange_every` launches. One launch exchanges them; the following launches
/// need no messages and also advance the valid points around the block, a region that shrinks towards the
/// block with every launch. (Method::exchanges_in_every_launch is an exception.) Results do not depend on how
/// often halos are exchanged.
class Block {
 public:
  /// Allocates the fields and prepares the units. Collective.
  Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
        const Method& method, Backend& backend, int exchange_every = 1);

  /// Sets the owned points of the source, in compute precision. Call it before the first launch, and only if
  /// the problem has a source. Collective.
  void set_source(const FillField& fill);
  /// Returns the block and the points around it up to which launches compute intermediate steps.
  Box advanced() const { return grow(owned(), (steps_of_halo_ - 1) * reach_); }
  /// Returns the points at which this block reads a derived coefficient of its equations, which may lie
  /// beyond the faces of the grid.
  Box coefficient_box(std::size_t coefficient) const {
    return problem_.equations->coefficient_box(coefficient, advanced());
  }
  /// Sets all points of a derived coefficient, in compute precision. Call it before the first launch.
  void set_coefficient(std::size_t coefficient, const FillField& fill);
  /// Set the owned points of a field at `step`, and of its values one step before.
  void set_state(const FillField& fill, std::size_t field = 0, std::int64_t step = 0);
  void set_previous(const FillField& fill, std::size_t field);

  std::size_t field_count() const { return arrays_.field_count(); }
  /// Returns true if the equations read `.previous` of a field, so that its values one step before are part
  /// of the state.
  bool has_previous(std::size_t field) const { return arrays_.has_previous(field); }
  /// Returns a field of the current state in host memory, valid until the next launch. Throws
  /// std::logic_error if prepare_copies() has prepared copies of these points on the device.
  const Field& state(std::size_t field = 0);
  /// Return views of a field in the backend's memory: the current state; the state one step before, if
  /// equations read it; and the current state together with the state before the last launch, which must have
  /// taken one step. The functions wait until the values are computed. Views are valid until the next launch.
  StateView view(std::size_t field = 0) { return computed({backend_, &arrays_.now(field), nullptr}); }
  StateView view_previous(std::size_t field) {
    keep_difference(false);
    return computed({backend_, &arrays_.before(field), nullptr});
  }
  StateView view_change(std::size_t field = 0) {
    keep_difference(false);
    return computed({backend_, &arrays_.now(field), &arrays_.before(field)});
  }
  /// Returns true if the block keeps the difference to the values one step before; view_difference() returns
  /// a view of it.
  bool keeps_difference() const { return keeps_difference_; }
  StateView view_difference() { return computed({backend_, &arrays_.before(0), nullptr}); }
  /// Return views of the state that the last launch began with.
  StateView view_begin(std::size_t field = 0) {
    return computed({backend_, &arrays_.at_launch(field), nullptr});
  }
  StateView view_begin_previous(std::size_t field) {
    if (began_with_difference_) {
      unit_->swap_difference(arrays_.at_launch(field), arrays_.before_launch(field), owned());
      began_with_difference_ = stride_is_known_ = false;
    }
    return computed({backend_, &arrays_.before_launch(field), nullptr});
  }
  /// Gives access to boxes of owned points of any field of this block, and to values of the current state of
  /// a field in one of the boxes, x fastest.
  BoxValues box_values(std::vector<Box> boxes) { return {*backend_, arrays_.now(), std::move(boxes)}; }
  std::vector<double> values_in(const BoxValues& boxes, std::size_t number, std::size_t field) const {
    return boxes.of(arrays_.now(field), number);
  }
  /// Sets the amounts that are added to points after every step, and the points that are recorded.
  /// `table.added` holds points of advanced(). Call it before the first launch, and only if the problem has
  /// points.
  void set_points(PointTable table, AmountsOfStep amounts);
  /// Records the current state where its step has a row. Launches record the steps that they reach.
  void record() { points_->record(in(), step_); }
  /// Starts to bring recorded rows to the host, see PointWork::fetch().
  std::unique_ptr<RecordedRows> recorded(std::size_t group, std::int64_t first, std::int64_t count) {
    return points_->fetch(group, first, count);
  }
  /// Starts the compilation that launches of `steps` steps need.
  void prepare(int steps) const;
  /// Starts the compilation that a scan with this sampling needs.
  void prepare(const Sampling& sampling) const { backend_->reducer().prepare(problem_.precision, sampling); }
  /// Prepares memory for `count` simultaneous copies, which stay on the device if `on_device`.
  void prepare_copies(const Sampling& sampling, int count, bool on_device);
  /// Returns the bytes of a device's memory that copies may take; 0 if they lie in host memory.
  std::size_t memory_for_copies() const { return backend_->memory_for_copies(bytes_between_launches()); }
  const Decomposition& decomposition() const { return decomposition_; }
  const Box& owned() const { return arrays_.now().owned(); }

  /// Advances the block by `steps` <= fuse time steps in one launch; equations take one step or `fuse`. A
  /// halo exchange overlaps with the computation of the interior. Collective.
  void launch(int steps);

  /// Reports the activity of launches to `watch`, which must outlive the block.
  void watch_by(Watchdog& watch) { watch_ = &watch; }
  /// Returns the times of all launches on the backend.
  Timings timings() { return backend_->timings(); }

 private:
  /// Describes a launch of `steps` steps that starts with a halo valid for `valid_steps` steps (0: the launch
  /// exchanges the halo).
  struct LaunchKind {
    int steps, valid_steps;
    bool previous_is_known;  // an exchange leaves out previous values
    bool continues_stride;   // a stride that knows the values one stride before
    friend auto operator<=>(const LaunchKind&, const LaunchKind&) = default;
  };
  using LaunchesByRoles = std::map<StateArrays::Roles, std::unique_ptr<Launch>>;
  /// Returns the view once its values are computed. It waits through the backend first, because the backend
  /// checks for failed messages while it waits. A reducer or a copy would not.
  StateView computed(const StateView& view) {
    backend_->synchronize();
    return view;
  }
  State in() const { return arrays_.in(step_); }
  State out(int steps) const { return arrays_.out(step_, steps); }
  /// Returns the state that a launch of this kind reads: a stride that knows the values one stride before
  /// also reads the arrays that it writes.
  State in(const LaunchKind& kind) const;
  /// Turns the values one step before into their difference to the state (`keep`), or back.
  void keep_difference(bool keep);
  Launch& launch_of(const LaunchKind& kind);
  /// Returns true if launches of `steps` steps scale the state by the largest magnitude on the whole grid,
  /// Field::magnitude_bound().
  bool scales(int steps) const { return scales_data_ && steps == method_.fuse; }
  /// Starts the reduction of the largest magnitude over all ranks on the exchange queue, if such launches
  /// scale the state.
  void share_magnitude_bound(int steps);
  /// Makes the compute queue wait for the result of share_magnitude_bound().
  void await_magnitude_bound(int steps);
  /// Returns the least value that the magnitude bound of the state is set to: 4 times the largest value
  /// of a face of a reflected axis. Reflected ghost points 2 c - u are then at most 1.5 times the bound.
  int minimum_scale() const;
  std::unique_ptr<Unit> make_unit(Queue queue) const;
  /// Returns an upper bound of the bytes that message buffers and intermediate results of launches need: one
  /// field in the precision of sums.
  std::size_t bytes_between_launches() const;
  /// Allocates the derived coefficients of equations where this block reads them.
  void make_coefficients();
  HaloExchange exchange_of(const Domain& domain, const State& state);
  /// Returns the exchange of those fields of `state` whose halos are not valid yet.
  HaloExchange& exchange(const State& state);
  void enqueue(const LaunchKind& kind);
  void enqueue_with_exchange(const LaunchKind& kind);
  void enter(Phase phase) const {
    if (watch_) watch_->enter(phase);
  }
  HaloRegions regions(const Domain& domain, const Index3& width) const;
  /// Returns the block and the points around it that are valid if the halo is good for `steps` steps.
  Box valid_region(int steps) const;
  /// Returns the part of valid_region(steps_of_halo_ - steps) that a launch computes before the halo has
  /// arrived.
  Box interior(int steps) const;
  /// Return the rows that are valid after an exchange: halo_rows() those up to `width` points beside the
  /// block, and local_rows() those that are valid before messages have arrived.
  Box halo_rows(Index3 width) const;
  Box local_rows() const;
  /// Fill the ghosts beside walls: fill_local_ghosts() in the rows that are valid before messages have
  /// arrived, and fill_received_ghosts() in the other rows.
  void fill_local_ghosts();
  /// Returns true if x is cut. Launches then write rows in parts that may be too short for their reflections.
  bool writes_rows_in_parts() const { return decomposition_.rank_grid()[x_axis] > 1; }
  void fill_received_ghosts();
  /// Finishes a launch: adds amounts to points, and records points of the state.
  void work_on_points();
  /// Returns true if ghost points beyond walls lie in memory and change with the field, so that they are all
  /// filled before every launch of the unit of equations.
  bool has_filled_faces() const { return problem_.equations && problem_.equations->fills_ghosts(); }

  Communicator communicator_;
  Problem problem_;
  Method method_;
  Decomposition decomposition_;
  Backend* backend_;
  std::array<bool, 3> wraps_;  // axes where units wrap indices
  Index3 reach_;               // the reach of a step; 0 along axes without a halo
  std::unique_ptr<Field> source_, fused_source_;
  std::vector<std::unique_ptr<Field>> coefficients_;  // coefficients of equations, beyond faces too
  StateArrays arrays_;
  std::unique_ptr<PointWork> points_;  // null if there are none
  Box added_rows_;                     // hold all points to which amounts are added
  std::int64_t step_ = 0;              // the time step of the state
  bool previous_is_known_ = false;     // the halos of previous values are valid
  // If keeps_difference_ is true, the array of the values one step before holds their difference to the state
  // instead. began_with_difference_ is true if that held for the state before the last launch. If
  // stride_is_known_ is true, the other arrays hold the values one stride before.
  bool keeps_difference_ = false, began_with_difference_ = false, stride_is_known_ = false;
  std::unique_ptr<Unit> unit_;
  std::array<std::unique_ptr<Unit>, edge_queues.size()> edge_units_;  // for edges that overlap with the
                                                                      // interior
  Watchdog* watch_ = nullptr;
  Phase computing_ = Phase::setup;         // phase of a launch outside of exchanges
  int steps_of_halo_;                      // steps that the halo is good for after an exchange
  int valid_steps_ = 0;                    // steps that the halo of the state is good for now
  bool scales_data_ = false;               // launches of `fuse` steps scale the state
  bool magnitude_bound_is_known_ = false;  // the state's Field::magnitude_bound() is that of the block
  std::map<std::size_t, HaloExchange> exchanges_;  // by number of fields, made when first needed
  std::map<LaunchKind, LaunchesByRoles> launches_;
  std::shared_ptr<HostCopy> state_copy_;  // the copy that state() returned
};

}  // namespace spsolve
