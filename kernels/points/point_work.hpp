// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/field.hpp"
#include "kernels/state.hpp"

namespace spsolve {

/// Identifies a point of one of the fields of a state.
struct FieldPoint {
  std::size_t field = 0;
  Index3 p{};

  friend bool operator==(const FieldPoint&, const FieldPoint&) = default;
};

/// Describes a point to which an amount is added after every step.
struct AddedPoint {
  FieldPoint at;
  std::size_t column = 0;  // index of its amount among the amounts of a step
};

/// Holds the share of a recorded point in a value.
struct PointShare {
  std::size_t point = 0;  // number in its group
  double weight = 0;
};

/// Lists points whose values are recorded after every `every`-th step, and the values that the host gets of
/// them. A row holds the values of one step, in their order.
struct RecordedPoints {
  std::int64_t every = 1;
  /// `rows` is the number of rows that are kept: row i, of step i * every, takes the place of row i - rows.
  std::int64_t rows = 1;
  std::vector<FieldPoint> points;
  /// Value i is the sum of the shares [starts[i], starts[i + 1]) in their order, computed in double and
  /// rounded once. Without `starts` the values are those of the points.
  std::vector<PointShare> shares = {};
  std::vector<std::size_t> starts = {};

  /// Returns the number of values of a row.
  std::size_t values() const { return starts.empty() ? points.size() : starts.size() - 1; }
};

/// Describes the amounts that are added to points of a block, and the points whose values are recorded.
struct PointTable {
  /// Each point of a field occurs once. Points of a halo that stand for the same point of the grid share its
  /// column.
  std::vector<AddedPoint> added;
  std::size_t columns = 0;
  std::vector<RecordedPoints> recorded;  // owned points

  bool empty() const { return added.empty() && recorded.empty(); }
};

/// Returns the points of `box` that represent the grid point `p`: itself, and its copies beyond the ends of
/// periodic axes.
std::vector<Index3> periodic_copies_of(const Index3& p, const Domain& domain, const Box& box);

/// Sets the amounts, by column, that are added after the step from `step` to the next. It is also asked for
/// steps after the last one of a run.
using AmountsOfStep = std::function<void(std::int64_t step, std::span<double> amounts)>;

/// Holds recorded rows on their way to the host.
class RecordedRows {
 public:
  virtual ~RecordedRows() = default;
  /// Waits until the rows have arrived and returns their values, row after row, in fp64 if the fields are of
  /// fp64 and in fp32 otherwise. Any thread may call it. The bytes last as long as this object.
  virtual std::span<const std::byte> wait() = 0;
};

/// Adds amounts to points of fields and records values of points, in the memory of a device. The host is not
/// waited for: amounts of many steps travel to the device together, and so do recorded rows to the host.
class PointWork {
 public:
  /// `amounts` may be empty if the table adds nothing.
  PointWork(PointTable table, AmountsOfStep amounts)
      : table_(std::move(table)), amounts_(std::move(amounts)) {}
  virtual ~PointWork() = default;
  PointWork(const PointWork&) = delete;
  PointWork& operator=(const PointWork&) = delete;

  const PointTable& table() const { return table_; }
  /// Makes the amounts of the `steps` steps from `first` on available to all work that is enqueued from now
  /// on.
  virtual void provide(std::int64_t first, int steps) = 0;
  /// Adds the amounts of `step`, which were provided, to the fields of `state`. Amount and sum are rounded
  /// once each to the compute precision of the fields, and the result to their storage precision.
  virtual void add(const State& state, std::int64_t step) = 0;
  /// Records the groups of which `step` has a row; `state` holds the fields of that step.
  virtual void record(const ConstState& state, std::int64_t step) = 0;
  /// Starts to bring rows [first, first + count) of a group to the host, which must still be kept. Work that
  /// is enqueued after this call may overwrite rows that were fetched before it, but not these. Call this
  /// function, and destroy rows, on the thread that computes.
  virtual std::unique_ptr<RecordedRows> fetch(std::size_t group, std::int64_t first, std::int64_t count) = 0;

 protected:
  void amounts_of(std::int64_t step, std::span<double> amounts) const { amounts_(step, amounts); }

 private:
  PointTable table_;
  AmountsOfStep amounts_;
};

}  // namespace spsolve
