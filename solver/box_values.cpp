// SPDX-License-Identifier: Apache-2.0
#include "solver/box_values.hpp"

#include <algorithm>
#include <utility>

#include "solver/diagnostics.hpp"

namespace spsolve {

BoxValues::BoxValues(Backend& backend, const Field& like, std::vector<Box> boxes)
    : backend_(&backend), boxes_(std::move(boxes)), copies_(boxes_.size()) {
  std::int64_t most = 0;
  for (const Box& box : boxes_) most = std::max(most, box.points());
  if (most == 0) return;
  row_ = std::make_unique<Field>(box_of({1, 1, most}), Index3{}, like.precision(), backend.memory());
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (!boxes_[i].empty())
      copies_[i] = backend.packer(Queue::compute)
                       .prepare({{boxes_[i].extent(), boxes_[i].begin, std::size_t{0}}}, like);
}

std::vector<double> BoxValues::of(Field& field, std::size_t number) const {
  const auto points = static_cast<std::size_t>(boxes_[number].points());
  if (points == 0) return {};
  copies_[number]->copy(field, row_->bytes_at({0, 0, 0}));
  return values_of_row(*backend_, *row_, points);
}

}  // namespace spsolve
