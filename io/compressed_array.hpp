// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/array_blocks.hpp"
#include "io/array_format.hpp"
#include "io/hdf5/filter_plugin.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve {

/// Returns why arrays cannot be compressed in this way, or an empty text if they can. For zstd HDF5 must find
/// the filter that is registered for it (https://github.com/HDFGroup/hdf5_plugins, number 32015).
std::string why_unavailable(Compression compression);

/// Returns the chunks of a compressed array. Each holds whole slices across its slowest axis, about a MiB
/// together, so it is a piece of the array in C order. The last one may be shorter.
ArrayBlocks chunks_of(const ArrayFormat& format);

/// Creates the dataset of a compressed array, without values.
Hdf5Id create_compressed(hid_t parent, const std::string& name, const ArrayFormat& format);

/// Holds a chunk in the form in which the file stores it.
struct EncodedChunk {
  ChunkBytes bytes;
  std::uint32_t skipped = 0;  // bit i: the i-th filter of the dataset was not applied
};

/// Encodes the values of a chunk of a compressed array, padded to the points of a whole chunk: bytes of equal
/// significance are grouped (the filter "shuffle" of HDF5), then compressed. Deflate leaves out chunks that
/// would grow. Any number of threads may encode chunks at a time, because HDF5 itself is not called.
EncodedChunk encoded_chunk(std::span<const std::byte> values, const ArrayFormat& format);

/// Writes chunk number `chunk` as it was encoded.
void write_chunk(hid_t dataset, const ArrayFormat& format, std::int64_t chunk, const EncodedChunk& encoded);

}  // namespace spsolve
