// SPDX-License-Identifier: Apache-2.0
#include "kernels/points/host_points.hpp"

#include <utility>

namespace spsolve {
namespace {

constexpr std::int64_t few_points = 4096;  // few points are faster with one thread

class RowsOfHost : public RecordedRows {
 public:
  explicit RowsOfHost(std::vector<double> values) : values_(std::move(values)) {}
  void wait_for(std::vector<double>& values) override { values = std::move(values_); }

 private:
  std::vector<double> values_;
};

}  // namespace

HostPoints::HostPoints(PointTable table, AmountsOfStep amounts)
    : PointWork(std::move(table), std::move(amounts)) {
  for (const RecordedPoints& group : this->table().recorded)
    values_.emplace_back(static_cast<std::size_t>(group.rows) * group.points.size());
}

void HostPoints::provide(std::int64_t first, int steps) {
  const std::size_t columns = table().columns;
  if (columns == 0) return;
  first_ = first;
  given_.assign(static_cast<std::size_t>(steps) * columns, 0.0);
  for (int step = 0; step < steps; ++step)
    amounts_of(first + step, std::span(given_).subspan(static_cast<std::size_t>(step) * columns, columns));
}

void HostPoints::add(const State& state, std::int64_t step) {
  const auto& added = table().added;
  if (added.empty()) return;
  const double* const amounts = given_.data() + static_cast<std::size_t>(step - first_) * table().columns;
  with_storage(state.front().precision(), [&]<class Storage>() {
    using T = Compute<Storage>;
    const auto count = std::ssize(added);
#pragma omp parallel for schedule(static) if (count > few_points)
    for (std::int64_t i = 0; i < count; ++i) {
      const AddedPoint& point = added[static_cast<std::size_t>(i)];
      Storage& value = *state[point.at.field].at<Storage>(point.at.p);
      value =
          to_storage<Storage>(static_cast<T>(stored_value(value)) + static_cast<T>(amounts[point.column]));
    }
  });
}

void HostPoints::record(const ConstState& state, std::int64_t step) {
  for (std::size_t number = 0; number < values_.size(); ++number) {
    const RecordedPoints& group = table().recorded[number];
    if (step % group.every != 0 || group.points.empty()) continue;
    const std::int64_t row = step / group.every % group.rows, count = std::ssize(group.points);
    double* const values = values_[number].data() + row * count;
    with_storage(state.front().precision(), [&]<class Storage>() {
#pragma omp parallel for schedule(static) if (count > few_points)
      for (std::int64_t i = 0; i < count; ++i) {
        const FieldPoint& point = group.points[static_cast<std::size_t>(i)];
        values[i] = stored_value(*state[point.field].at<Storage>(point.p));
      }
    });
  }
}

std::unique_ptr<RecordedRows> HostPoints::fetch(std::size_t group, std::int64_t first, std::int64_t count) {
  const RecordedPoints& recorded = table().recorded[group];
  const std::int64_t columns = std::ssize(recorded.points);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count * columns));
  for (std::int64_t row = first; row < first + count; ++row) {
    const auto begin = values_[group].begin() + row % recorded.rows * columns;
    values.insert(values.end(), begin, begin + columns);
  }
  return std::make_unique<RowsOfHost>(std::move(values));
}

}  // namespace spsolve
