// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "kernels/box.hpp"

namespace spsolve {

/// A dataset of numbers that is open for reading. What is wrong with it throws Error(invalid_input) naming
/// file and dataset. Values are those that its attributes say, as the conventions of netCDF have it
/// (https://cfconventions.org, section 8.1): stored * scale_factor + add_offset; missing ones are refused.
class NumberDataset {
 public:
  NumberDataset(const std::filesystem::path& file, const std::string& dataset);

  /// Extents, slowest axis first.
  const std::vector<std::int64_t>& shape() const { return shape_; }
  /// Extents of its chunks {z, y, x}, absent axes 1, if it has chunks that take time to decode.
  const std::optional<Index3>& encoded_chunks() const { return chunks_; }

  /// Checks the rank and gives the shape with absent axes in front.
  Index3 extent(int dimensions) const;
  /// The index that attribute "center" holds, `otherwise` where there is none.
  Index3 center(int dimensions, Index3 otherwise) const;
  /// Reads a box of values, x fastest; all must be finite. A chunk is decoded once if boxes within it follow
  /// one another.
  void read(int dimensions, const Box& box, std::vector<double>& values) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  /// How stored numbers become values.
  struct Packing {
    double scale = 1, offset = 0;
    std::vector<std::pair<std::string, double>> missing;  // attribute, stored number
    double least = -std::numeric_limits<double>::infinity();
    double largest = std::numeric_limits<double>::infinity();
  };
  Hdf5Id open(const std::filesystem::path& file, const std::string& dataset) const;
  std::optional<Index3> chunks_that_are_encoded() const;
  Packing read_packing() const;
  std::vector<double> numbers_of(const char* attribute) const;
  void unpack(int dimensions, const Box& box, std::vector<double>& values) const;

  std::string name_;
  Hdf5Id file_;
  Hdf5Id dataset_;
  std::vector<std::int64_t> shape_;
  std::optional<Index3> chunks_;
  Packing packing_;
};

/// What of a dataset lies elsewhere and is not there: a source of a virtual dataset that is missing or too
/// small, points that no source has, a raw file that is missing or too short. HDF5 reads fill values for
/// them. Empty where nothing is missing, else "is virtual, and ...".
std::string what_is_missing(hid_t dataset);

/// Why a path in a file cannot be opened although a link of that name is there; empty where there is none.
std::string why_it_does_not_open(hid_t file, const std::string& path);

}  // namespace spsolve
