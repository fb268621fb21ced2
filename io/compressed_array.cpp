// SPDX-License-Identifier: Apache-2.0
#include "io/compressed_array.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "kernels/error.hpp"

namespace spsolve {
namespace {

constexpr H5Z_filter_t zstd_filter = 32015;
/// Selects the fastest level of zlib. Values of simulations shrink because their high bytes are equal, which
/// every level finds.
constexpr int deflate_level = 1;
constexpr std::uint32_t without_deflate = 2;  // the second filter

int slowest_axis(const ArrayFormat& format) { return axis_count - format.dimensions; }

std::int64_t slice_points(const ArrayFormat& format) {
  return volume(format.shape) / format.shape[slowest_axis(format)];
}

/// Returns out[j n + i] = values[i s + j] for n elements of s bytes, as the filter of HDF5 makes it.
ChunkBytes shuffled(std::span<const std::byte> values, std::size_t element_bytes) {
  const std::size_t elements = values.size() / element_bytes;
  ChunkBytes out(values.size());
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < elements; ++i)
      out[byte * elements + i] = std::to_integer<std::uint8_t>(values[i * element_bytes + byte]);
  return out;
}

/// Returns the filter for zstd, or null if it is missing or only decodes.
const H5Z_class2_t* zstd_plugin() {
  const H5Z_class2_t* const found = filter_plugin(zstd_filter);
  return found && found->encoder_present ? found : nullptr;
}

/// Shuffles and compresses by the filter of HDF5 for zstd.
EncodedChunk encoded_by_zstd(std::span<const std::byte> values, std::size_t element_bytes) {
  const H5Z_class2_t* const filter = zstd_plugin();
  if (!filter) throw Error(Status::file_failure, "the zstd filter of HDF5 cannot be called");
  ChunkBytes encoded = apply_filter(*filter, 0, {}, shuffled(values, element_bytes));
  if (encoded.empty()) throw Error(Status::file_failure, "the zstd filter of HDF5 has failed");
  return {std::move(encoded)};
}

EncodedChunk encoded_by_deflate(std::span<const std::byte> values, std::size_t element_bytes) {
  ChunkBytes plain = shuffled(values, element_bytes);
  uLongf bytes = compressBound(static_cast<uLong>(plain.size()));
  EncodedChunk encoded{ChunkBytes(bytes)};
  const int status =
      compress2(encoded.bytes.data(), &bytes, plain.data(), static_cast<uLong>(plain.size()), deflate_level);
  if (status != Z_OK || bytes >= plain.size()) return {std::move(plain), without_deflate};
  encoded.bytes.resize(bytes);
  return encoded;
}

}  // namespace

std::string why_unavailable(Compression compression) {
  if (compression != Compression::zstd || zstd_plugin()) return "";
  return "compression 'zstd' needs the zstd filter of HDF5 (number 32015), which is not found here "
         "(HDF5_PLUGIN_PATH says where filters lie); 'deflate' is always there";
}

ArrayBlocks chunks_of(const ArrayFormat& format) {
  constexpr std::int64_t usual_bytes = 1 << 20;  // what readers keep of a dataset in memory
  const std::int64_t slice = slice_points(format), slices = format.shape[slowest_axis(format)];
  std::int64_t together = std::clamp<std::int64_t>(usual_bytes / (slice * format.element_bytes()), 1, slices);
  together = std::max(together, ceil_div(slices, ArrayBlocks::max_blocks));
  return {volume(format.shape), together * slice};
}

Hdf5Id create_compressed(hid_t parent, const std::string& name, const ArrayFormat& format) {
  const std::vector<hsize_t> extents(format.shape.end() - format.dimensions, format.shape.end());
  std::vector<hsize_t> chunk = extents;
  chunk.front() = static_cast<hsize_t>(chunks_of(format).block_points / slice_points(format));
  const Hdf5Id space(H5Screate_simple(format.dimensions, extents.data(), nullptr), H5Sclose);
  const Hdf5Id creation = timeless_properties(H5P_DATASET_CREATE);
  check_hdf5(H5Pset_chunk(creation, format.dimensions, chunk.data()));
  check_hdf5(H5Pset_shuffle(creation));
  if (format.compression == Compression::zstd)
    check_hdf5(H5Pset_filter(creation, zstd_filter, H5Z_FLAG_MANDATORY, 0, nullptr));
  else
    check_hdf5(H5Pset_deflate(creation, deflate_level));
  check_hdf5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  return {H5Dcreate2(parent, name.c_str(), storage_type(format.precision), space, H5P_DEFAULT, creation,
                     H5P_DEFAULT),
          H5Dclose};
}

EncodedChunk encoded_chunk(std::span<const std::byte> values, const ArrayFormat& format) {
  const auto element_bytes = static_cast<std::size_t>(format.element_bytes());
  return format.compression == Compression::zstd ? encoded_by_zstd(values, element_bytes)
                                                 : encoded_by_deflate(values, element_bytes);
}

void write_chunk(hid_t dataset, const ArrayFormat& format, std::int64_t chunk, const EncodedChunk& encoded) {
  std::vector<hsize_t> begin(static_cast<std::size_t>(format.dimensions), 0);
  begin.front() = static_cast<hsize_t>(chunks_of(format).begin(chunk) / slice_points(format));
  check_hdf5(H5Dwrite_chunk(dataset, H5P_DEFAULT, encoded.skipped, begin.data(), encoded.bytes.size(),
                            encoded.bytes.data()));
}

}  // namespace spsolve
