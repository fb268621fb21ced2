// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/filter_plugin.hpp"

namespace spsolve {

/// Describes a filter of the chunks of a dataset with the parameters that are stored with it.
struct ChunkFilter {
  H5Z_filter_t id;
  std::vector<unsigned> parameters;
  const H5Z_class2_t* plugin;  // null: it is one of the HDF5 library's own filters
};

/// Returns the filters of a dataset with these creation properties, in the order in which they encode.
std::vector<ChunkFilter> filters_of(hid_t creation);

/// Returns the name of the first filter of a dataset whose damaged chunks make HDF5 1.10 read or write beyond
/// its memory: "scale-offset", "n-bit" or "szip". Returns an empty text if there is none.
std::string unsafe_filter(hid_t creation);

/// Returns true if undo_filters() undoes all of these filters.
bool can_be_undone(std::span<const ChunkFilter> filters);

/// Undoes the filters of a chunk that has `wanted` bytes when it is decoded, the last filter first: deflate,
/// shuffle, fletcher32 and filters of plug-ins. At any other filter it stops and only checks that the stored
/// lengths are those that the filter needs, because HDF5 1.10 trusts them. Bit i of `left_out` is set if the
/// chunk has not passed filter i. Throws Error(invalid_input) that says what is wrong with the bytes. The
/// formats are those of the HDF5 library's own filters.
ChunkBytes undo_filters(ChunkBytes stored, std::uint32_t left_out, std::span<const ChunkFilter> filters,
                        std::size_t wanted);

}  // namespace spsolve
