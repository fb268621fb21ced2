// SPDX-License-Identifier: Apache-2.0
#include "plot/raster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spsolve {

void Extent::add(double value) {
  if (!std::isfinite(value)) return;
  range_.low = found_ ? std::min(range_.low, value) : value;
  range_.high = found_ ? std::max(range_.high, value) : value;
  found_ = true;
}

Raster::Raster(std::int64_t rows, std::int64_t columns, int max_rows, int max_columns)
    : rows_(rows, max_rows),
      columns_(columns, max_columns),
      sums_(static_cast<std::size_t>(rows_.groups) * columns_.groups) {}

void Raster::add(std::int64_t row, std::int64_t column, std::span<const double> values) {
  double* const sums = &sums_[static_cast<std::size_t>(rows_.of(row)) * columns_.groups];
  const std::int64_t end = column + std::ssize(values);
  for (std::int64_t i = column; i < end;) {
    const int cell = columns_.of(i);
    for (const std::int64_t last = std::min(end, columns_.begin(cell + 1)); i < last; ++i) {
      const double value = values[static_cast<std::size_t>(i - column)];
      sums[cell] += value;
      extent_.add(value);
      has_nan_ = has_nan_ || std::isnan(value);
    }
  }
}

double Raster::at(int row, int column) const {
  const std::int64_t values =
      (rows_.begin(row + 1) - rows_.begin(row)) * (columns_.begin(column + 1) - columns_.begin(column));
  return sums_[static_cast<std::size_t>(row) * columns_.groups + column] / static_cast<double>(values);
}

Curve::Curve(std::int64_t points, int max_places)
    : groups_(points, max_places),
      low_(static_cast<std::size_t>(groups_.groups), std::numeric_limits<double>::infinity()),
      high_(low_.size(), -std::numeric_limits<double>::infinity()) {}

void Curve::add(std::int64_t first, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const int place = groups_.of(first + static_cast<std::int64_t>(i));
    low_[place] = std::min(low_[place], values[i]);
    high_[place] = std::max(high_[place], values[i]);
    extent_.add(values[i]);
  }
}

double Curve::middle(int place) const {
  return static_cast<double>(groups_.begin(place) + groups_.begin(place + 1) - 1) / 2;
}

}  // namespace spsolve
