// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kernels/box.hpp"

namespace spsolve {

/// Returns the name of the first filter of a dataset whose damaged chunks make HDF5 1.10 read or write beyond
/// its memory: "scale-offset", "n-bit" or "szip". Returns an empty text if there is none.
std::string unsafe_filter(hid_t creation);

/// Looks at the stored bytes of chunks before the HDF5 library decodes them, because HDF5 1.10 trusts the
/// lengths in them. The formats are those of the HDF5 library's own filters.
class ChunkCheck {
 public:
  /// Describes a filter of a dataset with the parameters that are stored with it.
  struct Filter {
    H5Z_filter_t id;
    std::vector<unsigned> parameters;
  };

  /// Takes a dataset of 1 to 3 axes that stays open; any other dataset has nothing to look at.
  explicit ChunkCheck(hid_t dataset);

  /// Says what is wrong with the chunks that a box {z, y, x} touches. Returns an empty text if their lengths
  /// are right. Each chunk is looked at once.
  std::string damage(const Box& box);

 private:
  std::string damage_of_chunk(const Index3& chunk) const;

  hid_t dataset_;
  int dimensions_ = 0;
  Index3 extents_{1, 1, 1};  // of a chunk
  std::size_t element_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
  std::vector<Filter> filters_;  // in the order in which they encode; empty: nothing to look at
  std::set<Index3> sound_;       // chunks that were looked at
};

}  // namespace spsolve
