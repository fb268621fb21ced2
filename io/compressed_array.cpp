// SPDX-License-Identifier: Apache-2.0
#include "io/compressed_array.hpp"

#include <H5PLextern.h>
#include <dlfcn.h>
#include <link.h>
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

/// Sets out[j n + i] = values[i s + j] for n elements of s bytes, as the filter of HDF5 does it.
void shuffle(std::span<const std::byte> values, std::size_t element_bytes, std::byte* out) {
  const std::size_t elements = values.size() / element_bytes;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < elements; ++i) out[byte * elements + i] = values[i * element_bytes + byte];
}

/// Returns the filter for zstd, which is a plugin of HDF5, or null if there is none. HDF5 finds and loads it,
/// but has no call that applies a filter alone, and applies those of a dataset on one thread. So the filter
/// is looked up among the libraries that are loaded.
const H5Z_class2_t* find_zstd_filter() {
  const auto lock = lock_hdf5();
  unsigned config = 0;
  if (H5Zfilter_avail(zstd_filter) <= 0 || H5Zget_filter_info(zstd_filter, &config) < 0 ||
      (config & H5Z_FILTER_CONFIG_ENCODE_ENABLED) == 0)
    return nullptr;
  std::vector<std::string> libraries;
  const auto note = [](dl_phdr_info* library, std::size_t, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &libraries);
  for (const std::string& library : libraries) {
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    const auto info = reinterpret_cast<decltype(&H5PLget_plugin_info)>(dlsym(handle, "H5PLget_plugin_info"));
    const auto* const filter = info ? static_cast<const H5Z_class2_t*>(info()) : nullptr;
    dlclose(handle);  // HDF5 keeps it loaded
    if (filter && filter->id == zstd_filter) return filter;
  }
  return nullptr;
}

/// Returns the filter for zstd, which is looked up once.
const H5Z_class2_t* zstd_plugin() {
  static const H5Z_class2_t* const found = find_zstd_filter();
  return found;
}

/// Shuffles and compresses by the filter of HDF5 for zstd, as HDF5 calls it. A filter replaces its buffer.
EncodedChunk encoded_by_zstd(std::span<const std::byte> values, std::size_t element_bytes) {
  const H5Z_class2_t* const filter = zstd_plugin();
  std::size_t capacity = values.size();
  void* buffer = filter ? H5allocate_memory(capacity, false) : nullptr;
  if (!buffer) throw Error(Status::file_failure, "the zstd filter of HDF5 cannot be called");
  shuffle(values, element_bytes, static_cast<std::byte*>(buffer));
  const std::size_t bytes = filter->filter(0, 0, nullptr, values.size(), &capacity, &buffer);
  const auto* const begin = static_cast<const std::byte*>(buffer);
  EncodedChunk encoded{{begin, begin + bytes}, 0};
  H5free_memory(buffer);
  if (bytes == 0) throw Error(Status::file_failure, "the zstd filter of HDF5 has failed");
  return encoded;
}

EncodedChunk encoded_by_deflate(std::span<const std::byte> values, std::size_t element_bytes) {
  std::vector<std::byte> plain(values.size());
  shuffle(values, element_bytes, plain.data());
  uLongf bytes = compressBound(static_cast<uLong>(plain.size()));
  EncodedChunk encoded{std::vector<std::byte>(bytes), 0};
  const int status = compress2(reinterpret_cast<Bytef*>(encoded.bytes.data()), &bytes,
                               reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(plain.size()),
                               deflate_level);
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
