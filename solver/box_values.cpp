// SPDX-License-Identifier: Apache-2.0
#include "solver/box_values.hpp"

#include <algorithm>
#include <utility>

#include "solver/diagnostics.hpp"

namespace spsolve {

BoxValues::BoxValues(Backend& backend, const Field& like, std::vector<Box> boxes)
    : backend_(&backend), boxes_(std::move(boxes)), packings_(boxes_.size()) {
  std::int64_t most = 0;
  for (const Box& box : boxes_) most = std::max(most, box.points());
  if (most == 0) return;
  row_ = std::make_unique<Field>(box_of({1, 1, most}), Index3{}, like.precision(), backend.memory());
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (!boxes_[i].empty())
      packings_[i] = backend.packer(Queue::compute)
                         .prepare({{boxes_[i].extent(), boxes_[i].begin, std::size_t{0}}}, like);
}

std::vector<double> BoxValues::of(Field& field, std::size_t number) const {
  std::vector<double> values(static_cast<std::size_t>(boxes_[number].points()));
  if (values.empty()) return values;
  packings_[number]->copy(field, row_->bytes_at({0, 0, 0}));
  backend_->synchronize();
  const auto copy = StateView{backend_, row_.get(), nullptr}.scan({1, row_->precision()}).copy;
  const Field& host = copy->wait();
  with_storage(host.precision(), [&]<class Storage>() {
    const Storage* const row = host.at<Storage>({0, 0, 0});
    std::transform(row, row + values.size(), values.begin(), stored_value<Storage>);
  });
  return values;
}

}  // namespace spsolve
