// SPDX-License-Identifier: Apache-2.0
#include "solver/point_values.hpp"

#include <utility>

#include "solver/diagnostics.hpp"

namespace spsolve {

PointValues::PointValues(Backend& backend, const Field& like, std::vector<Index3> points)
    : backend_(&backend), points_(std::move(points)) {
  if (points_.empty()) return;
  const auto count = static_cast<std::int64_t>(points_.size());
  row_ = std::make_unique<Field>(box_of({1, 1, count}), Index3{}, like.precision(), backend.memory());
  std::vector<BoxCopy> gather, scatter;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const std::size_t byte = i * storage_bytes(like.precision());
    gather.push_back({{1, 1, 1}, points_[i], byte});
    scatter.push_back({{1, 1, 1}, byte, points_[i]});
  }
  Packer& packer = backend.packer(Queue::compute);
  gather_ = packer.prepare(std::move(gather), like);
  scatter_ = packer.prepare(std::move(scatter), like);
}

std::vector<double> PointValues::of(Field& field) const {
  if (!row_) return {};
  gather_->copy(field, row_->bytes_at({0, 0, 0}));
  return values_of_row(*backend_, *row_, points_.size());
}

void PointValues::add(Field& field, std::span<const double> amounts) const {
  if (!row_) return;
  const std::vector<double> values = of(field);
  backend_->set(*row_, [&](Field& host) {
    with_storage(host.precision(), [&]<class Storage>() {
      using T = Compute<Storage>;
      Storage* const row = host.at<Storage>({0, 0, 0});
      for (std::size_t i = 0; i < values.size(); ++i)
        row[i] = to_storage<Storage>(static_cast<T>(values[i]) + static_cast<T>(amounts[i]));
    });
  });
  scatter_->copy(field, row_->bytes_at({0, 0, 0}));
}

}  // namespace spsolve
