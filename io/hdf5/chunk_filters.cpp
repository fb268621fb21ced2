// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/chunk_filters.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "io/hdf5/hdf5.hpp"

namespace spsolve {
namespace {

constexpr std::size_t checksum_bytes = 4;  // the checksum of fletcher32

[[noreturn]] void fail(const std::string& what) { throw Error(Status::invalid_input, what); }

std::string name_of(H5Z_filter_t id) {
  return id == H5Z_FILTER_SCALEOFFSET ? "scale-offset"
         : id == H5Z_FILTER_NBIT      ? "n-bit"
         : id == H5Z_FILTER_SZIP      ? "szip"
                                      : "";
}

std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// Says how the values that a filter would make differ in number or size from those of the chunk. Returns an
/// empty text if they do not.
std::string wrong_size(const ChunkFilter& filter, std::size_t values, std::size_t bytes_of_value,
                       std::size_t wanted) {
  if (bytes_of_value > 0 && values == wanted / bytes_of_value && wanted % bytes_of_value == 0) return "";
  return fmt::format("filter {} makes {} values of {} bytes, wanted {} bytes in all", name_of(filter.id),
                     values, bytes_of_value, wanted);
}

/// Says what is wrong with the bits of all values of a chunk, which begin behind `header` bytes.
std::string wrong_bits(const ChunkFilter& filter, std::size_t stored, std::size_t header, std::uint64_t bits,
                       std::size_t values, std::size_t bytes_of_value) {
  if (bits > 8 * bytes_of_value)
    return fmt::format("filter {} takes {} bits for each value, which has {}", name_of(filter.id), bits,
                       8 * bytes_of_value);
  const std::size_t needed = header + (bits * values + 7) / 8;
  return stored >= needed
             ? ""
             : fmt::format("filter {} takes {} bytes, but {} are stored", name_of(filter.id), needed, stored);
}

/// The parameters are kind, factor, values, class, bytes of a value, ... A chunk begins with 4 bytes for the
/// number of bits of a value, one for the size of the least value, and 16 that hold it.
std::string damage_of_scale_offset(const ChunkFilter& filter, const ChunkBytes& stored, std::size_t wanted) {
  constexpr std::size_t parameters = 8, header = 21;
  if (filter.parameters.size() < parameters) return "filter scale-offset has too few parameters";
  const std::size_t values = filter.parameters[2], bytes_of_value = filter.parameters[4];
  if (auto wrong = wrong_size(filter, values, bytes_of_value, wanted); !wrong.empty()) return wrong;
  if (stored.size() < header)
    return fmt::format("filter scale-offset takes {} bytes, but {} are stored", header, stored.size());
  return wrong_bits(filter, stored.size(), header, little_endian(std::span(stored).first(4)), values,
                    bytes_of_value);
}

/// The parameters are their number, whether values stay as they are, values, kind, bytes of a value and, for
/// numbers, order, bits of a value and the place of the lowest bit.
std::string damage_of_n_bit(const ChunkFilter& filter, const ChunkBytes& stored, std::size_t wanted) {
  constexpr unsigned number = 1, whole = 4;  // kinds
  const auto& given = filter.parameters;
  if (given.size() < 5) return "filter n-bit has too few parameters";
  const std::size_t values = given[2], bytes_of_value = given[4];
  if (given[1] != 0)
    return stored.size() == wanted ? "" : fmt::format("has {} bytes, wanted {}", stored.size(), wanted);
  if (auto wrong = wrong_size(filter, values, bytes_of_value, wanted); !wrong.empty()) return wrong;
  if (given[3] == whole)
    return wrong_bits(filter, stored.size(), 0, 8 * bytes_of_value, values, bytes_of_value);
  if (given[3] != number || given.size() < 8)
    return "filter n-bit has parameters that are not those of numbers";
  if (given[6] == 0 || given[7] > 8 * bytes_of_value || given[6] > 8 * bytes_of_value - given[7])
    return fmt::format("filter n-bit takes bits {} to {} of a value, which has {}", given[7],
                       std::uint64_t{given[7]} + given[6], 8 * bytes_of_value);
  return wrong_bits(filter, stored.size(), 0, given[6], values, bytes_of_value);
}

/// A chunk begins with 4 bytes for the number of bytes that it has decoded.
std::string damage_of_szip(const ChunkBytes& stored, std::size_t wanted) {
  const std::uint64_t decoded = stored.size() < 4 ? 0 : little_endian(std::span(stored).first(4));
  return decoded == wanted ? "" : fmt::format("filter szip makes {} bytes, wanted {}", decoded, wanted);
}

/// Returns the bytes that were deflated, `most` at most.
ChunkBytes inflated(const ChunkBytes& stored, std::size_t most) {
  constexpr std::size_t max_growth = 1032;  // deflate makes no more of a byte
  ChunkBytes result(std::min(most, max_growth * stored.size()));
  auto length = static_cast<uLongf>(result.size());
  const int state = uncompress(result.data(), &length, stored.data(), static_cast<uLong>(stored.size()));
  if (state == Z_BUF_ERROR) fail(fmt::format("holds more than {} bytes", most));
  if (state != Z_OK) fail("cannot be inflated");
  result.resize(length);
  return result;
}

/// Undoes the filter shuffle: puts the bytes of each element together again. Bytes at the end that fill no
/// element stay where they are.
ChunkBytes unshuffled(const ChunkBytes& stored, std::size_t element_bytes) {
  if (element_bytes < 2) return stored;
  const std::size_t elements = stored.size() / element_bytes;
  ChunkBytes result = stored;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < elements; ++i) result[i * element_bytes + byte] = stored[byte * elements + i];
  return result;
}

/// Returns the checksum of the filter fletcher32: two sums modulo 2^16 - 1 of numbers of two bytes, the high
/// byte first (Fletcher 1982, https://doi.org/10.1109/TCOM.1982.1095369).
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  constexpr std::size_t numbers_at_once = 360;  // the sums of this many do not overflow
  std::uint32_t first = 0, second = 0;
  std::size_t i = 0;
  while (i < bytes.size()) {
    const std::size_t end = std::min(bytes.size(), i + 2 * numbers_at_once);
    for (; i < end; i += 2)
      second += first += static_cast<std::uint32_t>(bytes[i]) << 8 | (i + 1 < end ? bytes[i + 1] : 0u);
    first = fold(first), second = fold(second);
  }
  return fold(second) << 16 | fold(first);
}

/// Checks the checksum behind the bytes of a chunk, and takes it off.
ChunkBytes unsummed(ChunkBytes stored) {
  if (stored.size() < checksum_bytes)
    fail(fmt::format("has {} bytes, too few for a checksum", stored.size()));
  const auto split = stored.end() - checksum_bytes;
  const auto expected = static_cast<std::uint32_t>(little_endian({split, stored.end()}));
  stored.erase(split, stored.end());
  const std::uint32_t sum = fletcher32(stored);
  // HDF5 up to 1.6.2 stored both halves of the sum with their bytes exchanged.
  const std::uint32_t exchanged = (sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu);
  if (expected != sum && expected != exchanged) fail("its checksum does not hold");
  return stored;
}

ChunkBytes decoded_by_plugin(const ChunkBytes& stored, const ChunkFilter& filter) {
  ChunkBytes decoded;
  if (filter.plugin) decoded = apply_filter(*filter.plugin, H5Z_FLAG_REVERSE, filter.parameters, stored);
  if (decoded.empty()) fail(fmt::format("filter {} cannot decode it", filter.id));
  return decoded;
}

/// Calls use(filter, id, parameters) for the filters of a dataset with their numbers in its pipeline, their
/// numbers in HDF5 and how many parameters they have.
template <class Use>
void for_each_filter(hid_t creation, const Use& use) {
  const auto count = static_cast<unsigned>(check_hdf5(H5Pget_nfilters(creation)));
  for (unsigned filter = 0; filter < count; ++filter) {
    std::size_t parameters = 0;
    const auto id =
        check_hdf5(H5Pget_filter2(creation, filter, nullptr, &parameters, nullptr, 0, nullptr, nullptr));
    use(filter, static_cast<H5Z_filter_t>(id), parameters);
  }
}

}  // namespace

std::vector<ChunkFilter> filters_of(hid_t creation) {
  std::vector<ChunkFilter> filters;
  for_each_filter(creation, [&](unsigned filter, H5Z_filter_t id, std::size_t parameters) {
    std::vector<unsigned> values(parameters);
    check_hdf5(H5Pget_filter2(creation, filter, nullptr, &parameters, values.data(), 0, nullptr, nullptr));
    filters.push_back({id, std::move(values), filter_plugin(id)});
  });
  return filters;
}

std::string unsafe_filter(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_CHUNKED) return "";
  std::string unsafe;
  for_each_filter(creation, [&](unsigned, H5Z_filter_t id, std::size_t) {
    if (unsafe.empty()) unsafe = name_of(id);
  });
  return unsafe;
}

bool can_be_undone(std::span<const ChunkFilter> filters) {
  return std::ranges::all_of(filters, [](const ChunkFilter& filter) {
    return filter.id == H5Z_FILTER_DEFLATE || filter.id == H5Z_FILTER_SHUFFLE ||
           filter.id == H5Z_FILTER_FLETCHER32 || filter.plugin;
  });
}

ChunkBytes undo_filters(ChunkBytes stored, std::uint32_t left_out, std::span<const ChunkFilter> filters,
                        std::size_t wanted) {
  const auto require = [](const std::string& damage) {
    if (!damage.empty()) fail(damage);
  };
  // Returns the most bytes that a chunk has before filter i encodes it. Filters that encode add less than
  // half.
  const auto most = [&](std::size_t i) {
    const bool same_size = std::ranges::all_of(filters.first(i), [](const ChunkFilter& filter) {
      return filter.id == H5Z_FILTER_SHUFFLE || filter.id == H5Z_FILTER_FLETCHER32;
    });
    return same_size ? wanted + checksum_bytes * i : wanted + wanted / 2 + 1024;
  };
  for (std::size_t i = filters.size(); i-- > 0;) {
    if ((left_out >> i & 1) != 0) continue;
    const ChunkFilter& filter = filters[i];
    switch (filter.id) {
      case H5Z_FILTER_FLETCHER32:
        stored = unsummed(std::move(stored));
        break;
      case H5Z_FILTER_SHUFFLE:
        if (!filter.parameters.empty()) stored = unshuffled(stored, filter.parameters.front());
        break;
      case H5Z_FILTER_DEFLATE:
        stored = inflated(stored, most(i));
        break;
      case H5Z_FILTER_SCALEOFFSET:
        return require(damage_of_scale_offset(filter, stored, wanted)), stored;
      case H5Z_FILTER_NBIT:
        return require(damage_of_n_bit(filter, stored, wanted)), stored;
      case H5Z_FILTER_SZIP:
        return require(damage_of_szip(stored, wanted)), stored;
      default:
        stored = decoded_by_plugin(stored, filter);
    }
  }
  if (stored.size() != wanted) fail(fmt::format("has {} bytes, wanted {}", stored.size(), wanted));
  return stored;
}

}  // namespace spsolve
