// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/chunk_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <span>

#include "io/hdf5/hdf5.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Filter = ChunkCheck::Filter;

std::vector<Filter> filters_of(hid_t creation) {
  std::vector<Filter> filters;
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    constexpr std::size_t max_parameters = 64;
    std::size_t parameters = max_parameters;
    std::vector<unsigned> values(parameters);
    unsigned flags = 0, config = 0;
    const auto id = static_cast<H5Z_filter_t>(check_hdf5(H5Pget_filter2(
        creation, static_cast<unsigned>(i), &flags, &parameters, values.data(), 0, nullptr, &config)));
    values.resize(std::min(parameters, max_parameters));
    filters.push_back({id, std::move(values)});
  }
  return filters;
}

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

/// Says what a filter would do with a number of values of another size than the chunk has, if it would.
std::string wrong_size(const Filter& filter, std::size_t values, std::size_t bytes_of_value,
                       std::size_t wanted) {
  if (bytes_of_value > 0 && values == wanted / bytes_of_value && wanted % bytes_of_value == 0) return "";
  return fmt::format("filter {} makes {} values of {} bytes, wanted {} bytes in all", name_of(filter.id),
                     values, bytes_of_value, wanted);
}

/// Says what is wrong with the bits of all values of a chunk, which begin behind `header` bytes.
std::string wrong_bits(const Filter& filter, std::size_t stored, std::size_t header, std::uint64_t bits,
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
std::string damage_of_scale_offset(const Filter& filter, const Bytes& stored, std::size_t wanted) {
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
std::string damage_of_n_bit(const Filter& filter, const Bytes& stored, std::size_t wanted) {
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
std::string damage_of_szip(const Bytes& stored, std::size_t wanted) {
  const std::uint64_t decoded = stored.size() < 4 ? 0 : little_endian(std::span(stored).first(4));
  return decoded == wanted ? "" : fmt::format("filter szip makes {} bytes, wanted {}", decoded, wanted);
}

/// Returns the bytes that were deflated, `most` at most, or nothing if they are damaged.
std::optional<Bytes> inflated(const Bytes& stored, std::size_t most) {
  Bytes result(most);
  auto length = static_cast<uLongf>(most);
  if (uncompress(result.data(), &length, stored.data(), static_cast<uLong>(stored.size())) != Z_OK)
    return std::nullopt;
  result.resize(length);
  return result;
}

/// Returns the number of bytes that were deflated, without keeping them, or nothing if they are damaged.
std::optional<std::size_t> inflated_size(const Bytes& stored) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  std::array<std::uint8_t, 1 << 16> window{};
  constexpr std::size_t most = 1 << 30;  // of what zlib counts at a time
  std::size_t taken = 0, made = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      stream.next_in = const_cast<Bytef*>(stored.data()) + taken;
      stream.avail_in = static_cast<uInt>(std::min(most, stored.size() - taken));
      taken += stream.avail_in;
    }
    stream.next_out = window.data();
    stream.avail_out = static_cast<uInt>(window.size());
    state = inflate(&stream, Z_NO_FLUSH);
    made += window.size() - stream.avail_out;
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END ? std::optional(made) : std::nullopt;
}

/// Puts the bytes of each element together again, as the filter shuffle does it; the rest stays behind them.
Bytes unshuffled(const Bytes& stored, std::size_t element_bytes) {
  if (element_bytes < 2) return stored;
  const std::size_t elements = stored.size() / element_bytes;
  Bytes result = stored;
  for (std::size_t byte = 0; byte < element_bytes; ++byte)
    for (std::size_t i = 0; i < elements; ++i) result[i * element_bytes + byte] = stored[byte * elements + i];
  return result;
}

/// Says what is wrong with the stored bytes of a chunk, which has `wanted` bytes when it is decoded. Bits of
/// `left_out` name filters that it has not passed.
std::string damage_of(Bytes stored, std::uint32_t left_out, std::span<const Filter> filters,
                      std::size_t wanted) {
  const auto passed = [&](std::size_t i) { return (left_out >> i & 1) == 0; };
  // The library's own filters in front of unsafe ones add less than this.
  const std::size_t most = wanted + wanted / 2 + 1024;
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (!passed(i)) continue;
    const Filter& filter = filters[i];
    switch (filter.id) {
      case H5Z_FILTER_SCALEOFFSET:
        return damage_of_scale_offset(filter, stored, wanted);
      case H5Z_FILTER_NBIT:
        return damage_of_n_bit(filter, stored, wanted);
      case H5Z_FILTER_SZIP:
        return damage_of_szip(stored, wanted);
      case H5Z_FILTER_FLETCHER32: {
        constexpr std::size_t checksum = 4;
        if (stored.size() < checksum)
          return fmt::format("has {} bytes, too few for a checksum", stored.size());
        stored.resize(stored.size() - checksum);
        break;
      }
      case H5Z_FILTER_SHUFFLE:
        if (!filter.parameters.empty()) stored = unshuffled(stored, filter.parameters.front());
        break;
      case H5Z_FILTER_DEFLATE: {
        const bool size_decides = std::ranges::all_of(
            filters.first(i), [](const Filter& below) { return below.id == H5Z_FILTER_SHUFFLE; });
        if (size_decides) {
          const auto size = inflated_size(stored);
          if (!size) return "cannot be inflated";
          return *size == wanted ? "" : fmt::format("has {} bytes, wanted {}", *size, wanted);
        }
        auto bytes = inflated(stored, most);
        if (!bytes) return "cannot be inflated";
        stored = std::move(*bytes);
        break;
      }
      default:
        return "";  // a plugin, which is not known here
    }
  }
  return stored.size() == wanted ? "" : fmt::format("has {} bytes, wanted {}", stored.size(), wanted);
}

}  // namespace

std::string unsafe_filter(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_CHUNKED) return "";
  for (const Filter& filter : filters_of(creation))
    if (std::string name = name_of(filter.id); !name.empty()) return name;
  return "";
}

ChunkCheck::ChunkCheck(hid_t dataset) : dataset_(dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), type(H5Dget_type(dataset), H5Tclose),
      file(H5Iget_file_id(dataset), H5Fclose);
  if (H5Pget_layout(creation) != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  dimensions_ = static_cast<int>(check_hdf5(H5Pget_chunk(creation, H5S_MAX_RANK, extents.data())));
  if (dimensions_ > axis_count) return;
  for (int axis = 0; axis < dimensions_; ++axis)
    extents_[static_cast<std::size_t>(axis_count - dimensions_ + axis)] =
        static_cast<std::int64_t>(extents[static_cast<std::size_t>(axis)]);
  element_bytes_ = H5Tget_size(type);
  hsize_t bytes = 0;
  check_hdf5(H5Fget_filesize(file, &bytes));
  file_bytes_ = bytes;
  filters_ = filters_of(creation);
}

std::string ChunkCheck::damage(const Box& box) {
  if (filters_.empty() || box.empty()) return "";
  Box chunks;
  for (int axis = 0; axis < axis_count; ++axis) {
    chunks.begin[axis] = box.begin[axis] / extents_[axis];
    chunks.end[axis] = ceil_div(box.end[axis], extents_[axis]);
  }
  std::string damage;
  for_each_point(chunks, [&](const Index3& chunk) {
    if (!damage.empty() || sound_.contains(chunk)) return;
    damage = damage_of_chunk(chunk);
    if (damage.empty()) sound_.insert(chunk);
  });
  return damage;
}

std::string ChunkCheck::damage_of_chunk(const Index3& chunk) const {
  std::array<hsize_t, axis_count> offset{};
  for (int axis = 0; axis < dimensions_; ++axis) {
    const auto of_box = static_cast<std::size_t>(axis_count - dimensions_ + axis);
    offset[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(chunk[of_box] * extents_[of_box]);
  }
  const auto damaged = [&](const std::string& why) {
    return fmt::format("is damaged in its chunk at [{}]: {}",
                       fmt::join(offset.begin(), offset.begin() + dimensions_, ", "), why);
  };
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset_, offset.data(), &bytes) < 0 || bytes == 0) return "";  // not stored
  if (bytes > file_bytes_) return damaged(fmt::format("has {} bytes, more than the file", bytes));
  Bytes stored(bytes);
  std::uint32_t left_out = 0;
  if (H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &left_out, stored.data()) < 0)
    return damaged(last_hdf5_error());
  const std::string why = damage_of(std::move(stored), left_out, filters_,
                                    static_cast<std::size_t>(volume(extents_)) * element_bytes_);
  return why.empty() ? "" : damaged(why);
}

}  // namespace spsolve
