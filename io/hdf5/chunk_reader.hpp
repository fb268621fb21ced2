// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "io/hdf5/chunk_filters.hpp"
#include "io/hdf5/hdf5.hpp"
#include "kernels/box.hpp"

namespace spsolve {

/// Returns true unless chunks of numbers without filters have, all together, another number of bytes than
/// they must have. HDF5 1.10 trusts the stored lengths, which have no checksums up to the format of 1.8, and
/// reads beyond shorter chunks.
bool has_whole_chunks(hid_t dataset);

/// Reads boxes {z, y, x} of a dataset of numbers with 1 to 3 axes, which stays open. Chunks that are encoded
/// by deflate, shuffle and fletcher32 are decoded here, each once if the boxes within it follow one another.
/// Other chunks are decoded by the HDF5 library after their stored bytes were checked, because HDF5 1.10
/// trusts the lengths in them.
class ChunkReader {
 public:
  explicit ChunkReader(hid_t dataset);

  /// Returns the extents of a chunk {z, y, x}, 1 for absent axes, if chunks pass filters.
  const std::optional<Index3>& encoded_chunks() const { return extents_; }
  /// Reads a box, x fastest and without gaps, converted to `memory_type`. Throws Error(invalid_input) if a
  /// chunk is damaged.
  void read(const Box& box, hid_t memory_type, void* values);
  /// Throws Error(invalid_input) if a chunk that a box touches is damaged. Checks each chunk once.
  void check(const Box& box);

 private:
  struct Chunk {
    Index3 at{-1, -1, -1};  // in units of chunks
    ChunkBytes bytes;       // decoded; empty: the chunk was never written
  };

  Box box_of_chunk(const Index3& chunk) const;
  ChunkBytes undone(const Index3& chunk) const;
  void copy(const Index3& chunk, const Box& box, std::uint8_t* values);

  hid_t dataset_;
  Hdf5Id type_;
  std::size_t element_bytes_;
  int dimensions_ = 0;
  Index3 shape_{1, 1, 1};
  std::optional<Index3> extents_;
  std::vector<ChunkFilter> filters_;  // in the order in which they encode
  bool whole_only_ = false;           // chunks that reach beyond the dataset do not pass the filters
  ChunkBytes fill_;                   // the value of points that were never written
  std::uint64_t file_bytes_ = 0;
  Chunk held_;              // the last chunk that was decoded
  std::set<Index3> sound_;  // chunks that were checked
};

}  // namespace spsolve
