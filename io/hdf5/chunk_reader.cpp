// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/chunk_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "io/hdf5/touched_chunks.hpp"

namespace spsolve {

bool has_whole_chunks(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), type(H5Dget_type(dataset), H5Tclose),
      space(H5Dget_space(dataset), H5Sclose);
  if (H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_nfilters(creation) != 0) return true;
  // Strings of any length have another size in memory than in the file.
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return true;
  hsize_t chunks = 0, bytes = H5Tget_size(type);
  for (const std::int64_t extent : chunk_extents(dataset)) bytes *= static_cast<hsize_t>(extent);
  check_hdf5(H5Dget_num_chunks(dataset, space, &chunks));
  return H5Dget_storage_size(dataset) == chunks * bytes;
}

ChunkReader::ChunkReader(hid_t dataset)
    : dataset_(dataset), type_(H5Dget_type(dataset), H5Tclose), element_bytes_(H5Tget_size(type_)) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), file(H5Iget_file_id(dataset), H5Fclose);
  if (H5Pget_layout(creation) != H5D_CHUNKED) return;
  if (!has_whole_chunks(dataset))
    throw Error(Status::invalid_input,
                "is damaged: some of its chunks do not have the length that all must have");
  filters_ = filters_of(creation);
  const auto shape = dataset_shape(dataset);
  if (filters_.empty() || shape.size() > axis_count) return;
  const auto extents = chunk_extents(dataset);
  dimensions_ = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), shape_.end() - dimensions_);
  extents_ = {1, 1, 1};
  std::copy(extents.begin(), extents.end(), extents_->end() - dimensions_);
  unsigned options = 0;
  check_hdf5(H5Pget_chunk_opts(creation, &options));
  whole_only_ = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  H5D_fill_value_t fill{};
  check_hdf5(H5Pfill_value_defined(creation, &fill));
  fill_.resize(element_bytes_);
  if (fill != H5D_FILL_VALUE_UNDEFINED) check_hdf5(H5Pget_fill_value(creation, type_, fill_.data()));
  hsize_t bytes = 0;
  check_hdf5(H5Fget_filesize(file, &bytes));
  file_bytes_ = bytes;
}

void ChunkReader::read(const Box& box, hid_t memory_type, void* values) {
  if (!extents_ || !can_be_undone(filters_)) {
    check(box);
    return read_hyperslab(dataset_, box, memory_type, values);
  }
  const auto points = static_cast<std::size_t>(box.points());
  const std::size_t value_bytes = H5Tget_size(memory_type);
  ChunkBytes wide(element_bytes_ > value_bytes ? points * element_bytes_ : 0);  // where `values` has no room
  auto* const bytes = wide.empty() ? static_cast<std::uint8_t*>(values) : wide.data();
  for_each_point(chunks_touched_by(box, *extents_), [&](const Index3& chunk) { copy(chunk, box, bytes); });
  check_hdf5(H5Tconvert(type_, memory_type, points, bytes, nullptr, H5P_DEFAULT));
  if (!wide.empty()) std::memcpy(values, bytes, points * value_bytes);
}

void ChunkReader::check(const Box& box) {
  if (!extents_) return;
  for_each_point(chunks_touched_by(box, *extents_), [&](const Index3& chunk) {
    if (sound_.contains(chunk)) return;
    undone(chunk);
    sound_.insert(chunk);
  });
}

Box ChunkReader::box_of_chunk(const Index3& chunk) const {
  Box box;
  for (int axis = 0; axis < axis_count; ++axis) {
    box.begin[axis] = chunk[axis] * (*extents_)[axis];
    box.end[axis] = box.begin[axis] + (*extents_)[axis];
  }
  return box;
}

/// Returns the bytes of a chunk of which undo_filters() has undone the filters, or none if it is not stored.
ChunkBytes ChunkReader::undone(const Index3& chunk) const {
  const Box box = box_of_chunk(chunk);
  std::array<hsize_t, axis_count> offset{};
  std::copy(box.begin.end() - dimensions_, box.begin.end(), offset.begin());
  try {
    hsize_t bytes = 0;
    if (H5Dget_storage_size(dataset_) == 0) return {};  // no chunk was ever stored
    // This finds a chunk as H5Dread_chunk does, and fails if the chunk is not stored. The other function
    // looks through all chunks.
    if (H5Dget_chunk_storage_size(dataset_, offset.data(), &bytes) < 0) {
      haddr_t address = HADDR_UNDEF;
      unsigned mask = 0;
      check_hdf5(H5Dget_chunk_info_by_coord(dataset_, offset.data(), &mask, &address, &bytes));
      if (address == HADDR_UNDEF) return {};
      throw Error(Status::invalid_input, "its place in the index of chunks is wrong");
    }
    if (bytes > file_bytes_)
      throw Error(Status::invalid_input, fmt::format("has {} bytes, more than the file", bytes));
    ChunkBytes stored(bytes);
    std::uint32_t left_out = 0;
    check_hdf5(H5Dread_chunk(dataset_, H5P_DEFAULT, offset.data(), &left_out, stored.data()));
    if (whole_only_ && intersect(box, box_of(shape_)) != box) left_out = ~0u;
    return undo_filters(std::move(stored), left_out, filters_,
                        static_cast<std::size_t>(box.points()) * element_bytes_);
  } catch (const Error& error) {
    throw Error(Status::invalid_input,
                fmt::format("the chunk at [{}] is damaged: {}",
                            fmt::join(offset.begin(), offset.begin() + dimensions_, ", "), error.what()));
  }
}

/// Copies the values of a chunk that lie in a box to their places among `values`, as they are stored.
void ChunkReader::copy(const Index3& chunk, const Box& box, std::uint8_t* values) {
  if (chunk != held_.at) held_ = {chunk, undone(chunk)};
  const Box whole = box_of_chunk(chunk), part = intersect(whole, box);
  const auto points = static_cast<std::size_t>(part.extent()[x_axis]);
  const auto at = [&](const Index3& point, const Box& within) {
    return static_cast<std::size_t>(index_of(point - within.begin, within.extent())) * element_bytes_;
  };
  for (std::int64_t row = 0; row < row_count(part); ++row) {
    const Index3 begin = row_begin(part, row);
    std::uint8_t* const to = values + at(begin, box);
    if (!held_.bytes.empty())
      std::memcpy(to, held_.bytes.data() + at(begin, whole), points * element_bytes_);
    else
      for (std::size_t i = 0; i < points; ++i)
        std::memcpy(to + i * element_bytes_, fill_.data(), element_bytes_);
  }
}

}  // namespace spsolve
