// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/chunk_reader.hpp"
#include "io/hdf5/hdf5.hpp"
#include "kernels/box.hpp"

namespace spsolve {

/// Holds a dataset of numbers that is open for reading. Errors are Error(invalid_input) and name file and
/// dataset. Values are the stored numbers times scale_factor plus add_offset if the dataset has these
/// attributes of the netCDF conventions (https://cfconventions.org, section 8.1). Missing values are refused.
class NumberDataset {
 public:
  NumberDataset(const std::filesystem::path& file, const std::string& dataset);

  /// Returns the extents, slowest axis first.
  const std::vector<std::int64_t>& shape() const { return shape_; }
  /// Returns the extents of a chunk {z, y, x}, 1 for absent axes, if chunks are compressed or filtered.
  const std::optional<Index3>& encoded_chunks() const { return reader_.encoded_chunks(); }

  /// Checks the rank and returns the shape with absent axes in front.
  Index3 extent(int dimensions) const;
  /// Returns the index in the attribute "center", or `otherwise` if there is none.
  Index3 center(int dimensions, Index3 otherwise) const;
  /// Reads a box of values, x fastest; all must be finite. A chunk is decoded once if boxes within it follow
  /// one another.
  void read(int dimensions, const Box& box, std::vector<double>& values) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  /// Describes how stored numbers become values.
  struct Packing {
    double scale = 1, offset = 0;
    std::vector<std::pair<std::string, double>> missing;  // attribute, stored number
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
  };
  Hdf5Id open(const std::filesystem::path& file, const std::string& dataset) const;
  Packing read_packing() const;
  std::vector<double> numbers_of(const char* attribute) const;
  /// Refuses marks of missing values, and stored numbers beyond the valid range.
  void require_valid(int dimensions, const Box& box, const std::vector<double>& values) const;
  /// Refuses 64-bit integers that a double cannot hold exactly. `values` are the doubles that were read.
  void require_exact(int dimensions, const Box& box, const std::vector<double>& values) const;
  void unpack(int dimensions, const Box& box, std::vector<double>& values) const;

  std::string name_;
  Hdf5Id file_;
  Hdf5Id dataset_;
  std::vector<std::int64_t> shape_;
  Packing packing_;
  mutable ChunkReader reader_;  // it keeps the last chunk
};

/// Says why a path in a file cannot be opened although a link of that name exists. Returns an empty text if
/// there is no link.
std::string why_unreadable(hid_t file, const std::string& path);

}  // namespace spsolve
