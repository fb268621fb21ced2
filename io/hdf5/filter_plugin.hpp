// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <H5PLextern.h>

#include <cstdint>
#include <span>
#include <vector>

namespace spsolve {

/// Holds the bytes of a chunk, encoded or decoded.
using ChunkBytes = std::vector<std::uint8_t>;

/// Returns a filter that is a plug-in of HDF5, or null if HDF5 finds none with this number. HDF5 loads the
/// plug-in, but has no call that applies a filter alone, and applies those of a dataset on one thread. So the
/// filter is looked up among the libraries that are loaded, once for each number. Calls HDF5 under
/// lock_hdf5().
const H5Z_class2_t* filter_plugin(H5Z_filter_t id);

/// Returns what a filter makes of the bytes of a chunk, as HDF5 calls it: encoded bytes if `flags` is 0,
/// decoded ones if it is H5Z_FLAG_REVERSE. The parameters are those that are stored with the dataset. Returns
/// no bytes if the filter fails. Any number of threads may call it.
ChunkBytes apply_filter(const H5Z_class2_t& filter, unsigned flags, std::span<const unsigned> parameters,
                        std::span<const std::uint8_t> bytes);

}  // namespace spsolve
