// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plot/colormap.hpp"

namespace spsolve {

/// Divides `count` positions into at most `most` groups of neighbours whose sizes differ by at most one.
struct Bins {
  std::int64_t count;
  int groups;

  Bins(std::int64_t places, int max_bins)
      : count(places), groups(static_cast<int>(places < max_bins ? places : std::int64_t{max_bins})) {}
  int of(std::int64_t place) const { return static_cast<int>(place * groups / count); }
  std::int64_t begin(int group) const { return (group * count + groups - 1) / groups; }
};

/// Collects the least and the largest finite value.
class Extent {
 public:
  void add(double value);
  /// Returns {0, 0} if there was no finite value.
  ColorRange range() const { return found_ ? range_ : ColorRange{0, 0}; }

 private:
  ColorRange range_;
  bool found_ = false;
};

/// Reduces a 2D array of any size to cells of a picture. A cell has the mean of its block of values, and is
/// NaN if one of them is.
class Raster {
 public:
  /// The cells are at most `max_rows` x `max_columns`.
  Raster(std::int64_t rows, std::int64_t columns, int max_rows, int max_columns);

  /// Adds values of a row from `column` on. Every value of the array must be added once; sums have the bits
  /// of the order of the calls.
  void add(std::int64_t row, std::int64_t column, std::span<const double> values);

  int rows() const { return rows_.groups; }
  int columns() const { return columns_.groups; }
  double at(int row, int column) const;
  /// Returns the extremes of the values of the array, not of the means.
  ColorRange extent() const { return extent_.range(); }
  bool has_nan() const { return has_nan_; }

 private:
  Bins rows_, columns_;
  std::vector<double> sums_;  // row after row
  Extent extent_;
  bool has_nan_ = false;
};

/// Reduces the values of a curve to places next to each other in a picture, each with the extremes of its
/// group of values.
class Curve {
 public:
  Curve(std::int64_t points, int max_places);

  /// Adds values from point `first` on.
  void add(std::int64_t first, std::span<const double> values);

  int places() const { return groups_.groups; }
  /// Returns the number of the middle point of a group.
  double middle(int place) const;
  /// Returns false if the group has no finite value.
  bool has_values(int place) const { return low_[place] <= high_[place]; }
  double low(int place) const { return low_[place]; }
  double high(int place) const { return high_[place]; }
  ColorRange extent() const { return extent_.range(); }

 private:
  Bins groups_;
  std::vector<double> low_, high_;
  Extent extent_;
};

}  // namespace spsolve
