// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/points/point_arguments.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/points/point_work.hpp"

namespace spsolve::cuda {

/// Adds amounts to points of fields in device memory, and records values of points. The amounts of several
/// steps travel to the device at once; while the device uses them, the host computes the next ones. A
/// separate stream computes the values of recorded rows and copies them to the host.
class DevicePoints : public PointWork {
 public:
  /// Fields have the geometry and precision of `like`. Work is enqueued on `stream`, which must outlive this
  /// object. Throws Error(invalid_input) if points of more fields than kernels know are changed or recorded.
  DevicePoints(PointTable table, AmountsOfStep amounts, const Field& like, const Stream& stream,
               const KernelCompiler& compiler);

  void provide(std::int64_t first, int steps) override;
  void add(const State& state, std::int64_t step) override;
  void record(const ConstState& state, std::int64_t step) override;
  std::unique_ptr<RecordedRows> fetch(std::size_t group, std::int64_t first, std::int64_t count) override;

  /// Returns the amounts of `step` in device memory, by column; those of the next step follow.
  const void* amounts(std::int64_t step) const;
  /// Returns the groups of recorded points in device memory.
  const RecordedGroup* groups() const { return static_cast<const RecordedGroup*>(groups_.data()); }
  /// Returns the groups of recorded points in host memory.
  const std::vector<RecordedGroup>& groups_on_host() const { return groups_on_host_; }

 private:
  class FetchedRows;
  /// Holds host memory that a transfer uses, and the event that marks its end.
  struct Landing {
    PinnedBuffer memory;
    DeviceBuffer combined;  // values on their way, unless rows travel as they were recorded
    Event done;
  };
  /// Holds points in device memory; for recorded ones also the rows that are kept, and memory for transfers.
  struct List {
    DeviceBuffer points;
    int count = 0;
    DeviceBuffer values;
    DeviceBuffer shares, starts, value_columns;  // where the values of a row come from
    // This event marks when the rows that were fetched last may be overwritten.
    std::unique_ptr<Event> read = std::make_unique<Event>();
    std::vector<std::shared_ptr<Landing>> landings;
  };

  void upload_shares(const RecordedPoints& group, List& list) const;
  void allocate_amounts(std::int64_t steps);
  std::shared_ptr<Landing> landing_of(std::size_t group, std::int64_t rows);
  void combine(std::size_t group, std::int64_t first, std::int64_t count, const Landing& landing);
  void copy(std::size_t group, std::int64_t first, std::int64_t count, const Landing& landing);
  void launch(const Kernel& kernel, const List& list, void* values, std::span<const std::byte* const> fields);

  Precision precision_;
  const Stream& stream_;
  Stream travel_;
  Event reached_;
  Kernel add_, record_, combine_;
  List added_;
  std::vector<List> recorded_;  // by group
  std::vector<RecordedGroup> groups_on_host_;
  DeviceBuffer groups_;
  DeviceBuffer amounts_;  // amounts of `stretch_` steps, beginning with step `first_`
  std::int64_t first_ = 0, known_ = 0, stretch_ = 0;
  std::array<Landing, 2> stretches_;  // used alternately
  std::size_t turn_ = 0;
};

}  // namespace spsolve::cuda
