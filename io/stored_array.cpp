// SPDX-License-Identifier: Apache-2.0
#include "io/stored_array.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/file_descriptor.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve {

StoredArray locate_array(const std::filesystem::path& file, const std::string& name) {
  const auto read = [&] {
    const Hdf5Id input = open_hdf5(file);
    const Hdf5Id dataset(H5Dopen2(input, dataset_of(name).c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
    const auto extents = dataset_shape(dataset);
    if (extents.empty() || extents.size() > axis_count)
      throw Error(Status::file_failure, "is not a 1D, 2D or 3D array");
    StoredArray array{
        .file = file,
        .name = name,
        .format = {.dimensions = static_cast<int>(extents.size()), .precision = storage_precision(type)},
        .checksum_block_bytes = read_attribute<std::int64_t>(dataset, checksum_attribute::block_bytes),
        .checksums = read_attribute<std::vector<std::uint64_t>>(dataset, checksum_attribute::values)};
    std::copy(extents.begin(), extents.end(), array.format.shape.end() - array.format.dimensions);
    const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(creation) == H5D_CHUNKED) {
      array.format.compression = Compression::deflate;  // or another filter, which HDF5 finds itself
    } else {
      const haddr_t address = H5Dget_offset(dataset);
      if (address == HADDR_UNDEF)
        throw Error(Status::file_failure, "is not one contiguous piece of the file");
      array.offset = static_cast<std::int64_t>(address);
    }
    // In a damaged file the shape can be anything. Its volume can overflow unless the data fit into the file.
    const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    const bool is_compressed = array.format.compression != Compression::none;
    constexpr std::int64_t max_shrinkage = 1 << 10;  // deflate shrinks equal bytes by no larger factor
    if (!has_volume_within(array.format.shape,
                           file_bytes / array.format.element_bytes() * (is_compressed ? max_shrinkage : 1)))
      throw Error(Status::file_failure, "has a shape that is empty, or larger than the file");
    const std::int64_t bytes = volume(array.format.shape) * array.format.element_bytes();
    if (read_attribute<std::string>(dataset, checksum_attribute::algorithm) != checksum_algorithm ||
        array.checksum_block_bytes <= 0 ||
        static_cast<std::int64_t>(array.checksums.size()) !=
            bytes / array.checksum_block_bytes + (bytes % array.checksum_block_bytes != 0))
      throw Error(Status::file_failure, "has checksums of another kind");
    return array;
  };
  return naming(file, read, fmt::format(":{}", dataset_of(name)));
}

namespace {

/// Returns a function that reads values of an array in C order from byte `first` on. It reads whole slices
/// across the slowest axis if the array is compressed.
std::function<void(std::int64_t first, std::span<std::byte> data)> reader_of(const StoredArray& array) {
  if (array.format.compression == Compression::none)
    return [&array, input = std::make_shared<FileDescriptor>(array.file, FileDescriptor::Mode::read)](
               std::int64_t first, std::span<std::byte> data) { input->read(array.offset + first, data); };
  const auto file = std::make_shared<Hdf5Id>(open_hdf5(array.file));
  return [&array, file](std::int64_t first, std::span<std::byte> data) {
    const ArrayFormat& format = array.format;
    const int slowest = axis_count - format.dimensions;
    const std::int64_t slice = volume(format.shape) / format.shape[slowest] * format.element_bytes();
    Box box = box_of(format.shape);
    box.begin[slowest] = first / slice;
    box.end[slowest] = (first + std::ssize(data)) / slice;
    const Hdf5Id dataset(H5Dopen2(*file, dataset_of(array.name).c_str(), H5P_DEFAULT), H5Dclose);
    naming(array.where(), [&] { read_hyperslab(dataset, box, storage_type(format.precision), data.data()); });
  };
}

}  // namespace

void verify_array(const Communicator& communicator, const StoredArray& array) {
  collectively(communicator, [&] {
    const auto read = reader_of(array);
    const auto count = static_cast<std::int64_t>(array.checksums.size());
    const std::int64_t all_bytes = volume(array.format.shape) * array.format.element_bytes();
    std::vector<std::byte> block(static_cast<std::size_t>(std::min(array.checksum_block_bytes, all_bytes)));
    const std::int64_t end = count * (communicator.rank() + 1) / communicator.size();
    for (std::int64_t b = count * communicator.rank() / communicator.size(); b < end; ++b) {
      const std::int64_t first = b * array.checksum_block_bytes,
                         last = std::min(all_bytes, first + array.checksum_block_bytes);
      const std::span data(block.data(), static_cast<std::size_t>(last - first));
      read(first, data);
      if (XXH3_64bits(data.data(), data.size()) != array.checksums[static_cast<std::size_t>(b)])
        throw Error(
            Status::file_failure,
            fmt::format(
                "{}: bytes [{}, {}) of its data are damaged: the checksum of block {} of {} does not hold",
                array.where(), first, last, b + 1, count));
    }
  });
}

void read_array(const StoredArray& array, const Box& box, const RowSink& sink) {
  const Hdf5Id input = open_hdf5(array.file);
  const Hdf5Id dataset(H5Dopen2(input, dataset_of(array.name).c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Id type = storage_type(array.format.precision);
  const std::int64_t bytes = array.format.element_bytes();
  std::vector<std::byte> values;
  for_each_part(box, ArrayBlocks::min_bytes / bytes, [&](const Box& part) {
    values.resize(static_cast<std::size_t>(part.points() * bytes));
    read_hyperslab(dataset, part, type, values.data());
    const std::int64_t points = part.extent()[x_axis];
    const std::byte* next = values.data();
    for (std::int64_t row = 0; row < row_count(part); ++row, next += points * bytes)
      sink(row_begin(part, row), points, next);
  });
}

}  // namespace spsolve
