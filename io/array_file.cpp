// SPDX-License-Identifier: Apache-2.0
#include "io/array_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/atomic_file.hpp"
#include "io/block_writer.hpp"
#include "io/compressed_array.hpp"
#include "io/file_descriptor.hpp"

namespace spsolve {
namespace {

/// No block shares a page of any usual size with the next block: two hosts that write to one page of a file
/// on NFS lose one of the writes.
constexpr std::int64_t data_alignment = 65536;

/// Returns an upper bound of the size of the file: the values, a coordinate for each point of each axis, the
/// text of the attributes twice (HDF5 may move a header that grows), and room for headers.
std::int64_t bytes_needed(const ArrayFormat& format, std::size_t arrays, const Attributes& attributes) {
  constexpr std::int64_t room_for_headers = 128 << 10;  // for an array, its checksums included
  std::int64_t bytes = static_cast<std::int64_t>(arrays) *
                       (volume(format.shape) * format.element_bytes() + data_alignment + room_for_headers);
  for (const std::int64_t points : format.shape)
    bytes += points * static_cast<std::int64_t>(sizeof(double)) + data_alignment;
  for (const auto& [name, value] : attributes)
    if (const auto* text = std::get_if<std::string>(&value))
      bytes += 2 * static_cast<std::int64_t>(text->size());
  return bytes;
}

/// Returns the attributes of an array that will hold its checksums, one for each block.
Attributes no_checksums(const ArrayFormat& format, const ArrayBlocks& blocks) {
  return {{checksum_attribute::algorithm, std::string(checksum_algorithm)},
          {checksum_attribute::block_bytes, blocks.block_points * format.element_bytes()},
          {checksum_attribute::values, std::vector<std::uint64_t>(static_cast<std::size_t>(blocks.count()))}};
}

/// Writes everything in the file except the values, and returns the offset of the values of each array.
std::vector<std::int64_t> lay_out(const std::filesystem::path& file, const ArrayFormat& format,
                                  const Attributes& attributes, const std::vector<NamedRows>& arrays,
                                  const std::function<void(hid_t)>& decorate) {
  const Attributes checksums =
      no_checksums(format, ArrayBlocks::of(volume(format.shape), format.element_bytes()));
  reserve_hdf5(file, bytes_needed(format, arrays.size(), attributes));
  const auto lock = lock_hdf5();
  Hdf5Id output = open_reserved_hdf5(file, ArrayBlocks::min_bytes, data_alignment);
  std::vector<std::int64_t> offsets;
  {
    std::vector<Hdf5Id> datasets;
    const std::vector<hsize_t> extents(format.shape.end() - format.dimensions, format.shape.end());
    for (const NamedRows& array : arrays)
      datasets.push_back(
          create_contiguous(output, dataset_of(array.name), storage_type(format.precision), extents));
    write_attributes(output, attributes);
    for (const Hdf5Id& dataset : datasets) write_attributes(dataset, checksums);
    if (decorate) decorate(output);
    for (const Hdf5Id& dataset : datasets) offsets.push_back(values_offset(dataset));
  }
  output.close();
  return offsets;
}

/// Writes the checksums of each array into the file.
void complete(const std::filesystem::path& file, const std::vector<NamedRows>& arrays,
              const std::vector<std::vector<std::uint64_t>>& checksums, Flush flush) {
  {
    const auto lock = lock_hdf5();
    Hdf5Id output = modify_hdf5(file);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const Hdf5Id dataset(H5Dopen2(output, dataset_of(arrays[i].name).c_str(), H5P_DEFAULT), H5Dclose);
      write_attribute(dataset, checksum_attribute::values, checksums[i]);
    }
    output.close();
  }
  if (flush == Flush::now) FileDescriptor(file, FileDescriptor::Mode::modify).flush();
}

/// Holds a file of compressed arrays open on rank 0, because only HDF5 knows where their chunks lie. The
/// disk space of the file suffices also for values that do not shrink.
class CompressedFile {
 public:
  CompressedFile(const std::filesystem::path& file, const ArrayFormat& format, const Attributes& attributes,
                 const std::vector<NamedRows>& arrays, const std::function<void(hid_t)>& decorate)
      : file_(file), format_(format) {
    reserve_hdf5(file, bytes_for(arrays.size(), attributes));
    const auto lock = lock_hdf5();
    output_.emplace(open_reserved_hdf5(file, 4096, 1));
    const Attributes checksums = no_checksums(format, chunks_of(format));
    for (const NamedRows& array : arrays)
      datasets_.push_back(create_compressed(*output_, dataset_of(array.name), format));
    write_attributes(*output_, attributes);
    for (const Hdf5Id& dataset : datasets_) write_attributes(dataset, checksums);
    if (decorate) decorate(*output_);
  }
  ~CompressedFile() {
    const auto lock = lock_hdf5();
    datasets_.clear();
    output_.reset();
  }
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  void write(std::size_t array, std::int64_t chunk, const EncodedChunk& encoded) {
    const auto lock = lock_hdf5();
    naming(file_, [&] { write_chunk(datasets_[array], format_, chunk, encoded); });
  }
  void complete(const std::vector<std::vector<std::uint64_t>>& checksums, Flush flush) {
    {
      const auto lock = lock_hdf5();
      for (std::size_t i = 0; i < datasets_.size(); ++i)
        write_attribute(datasets_[i], checksum_attribute::values, checksums[i]);
      datasets_.clear();
      output_->close();
    }
    if (flush == Flush::now) FileDescriptor(file_, FileDescriptor::Mode::modify).flush();
  }

 private:
  std::int64_t bytes_for(std::size_t arrays, const Attributes& attributes) const {
    constexpr std::int64_t bytes_per_chunk = 256;  // in the index of a dataset
    const ArrayBlocks chunks = chunks_of(format_);
    const std::int64_t padding = chunks.count() * chunks.block_points - chunks.points;
    return bytes_needed(format_, arrays, attributes) +
           static_cast<std::int64_t>(arrays) *
               (padding * format_.element_bytes() + chunks.count() * bytes_per_chunk);
  }

  std::filesystem::path file_;
  ArrayFormat format_;
  std::optional<Hdf5Id> output_;
  std::vector<Hdf5Id> datasets_;
};

/// Tells how long the parts of the work on a file take, one after the other.
class Stopwatch {
 public:
  explicit Stopwatch(const FileTurn& turn) : turn_(turn) {}
  void ended(FilePart part) {
    const auto now = std::chrono::steady_clock::now();
    turn_.took(part, std::chrono::duration<double>(now - std::exchange(begin_, now)).count());
  }

 private:
  const FileTurn& turn_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Writes the file of compressed arrays. Collective.
void write_compressed(const Communicator& communicator, const std::filesystem::path& file,
                      const ArrayFormat& format, const Attributes& attributes,
                      const std::vector<NamedRows>& arrays, const std::function<void(hid_t)>& decorate,
                      BlockWriter& writer, Flush flush, Stopwatch& watch) {
  std::optional<CompressedFile> output;
  on_root(communicator, [&] { output.emplace(file, format, attributes, arrays, decorate); });
  watch.ended(FilePart::layout);
  std::vector<std::vector<std::uint64_t>> checksums;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    checksums.push_back(writer.compress(arrays[i], [&](std::int64_t chunk, const EncodedChunk& encoded) {
      output->write(i, chunk, encoded);
    }));
  watch.ended(FilePart::values);
  on_root(communicator, [&] { output->complete(checksums, flush); });
  watch.ended(FilePart::flush);
}

/// Writes the file of arrays as they are. Collective.
void write_contiguous(const Communicator& communicator, const std::filesystem::path& file,
                      const ArrayFormat& format, const Attributes& attributes,
                      const std::vector<NamedRows>& arrays, const std::function<void(hid_t)>& decorate,
                      BlockWriter& writer, Flush flush, const FileTurn& turn, Stopwatch& watch) {
  std::vector<std::int64_t> offsets(arrays.size());
  on_root(communicator, [&] {
    const WorkTurn work(turn.workers);
    offsets = lay_out(file, format, attributes, arrays, decorate);
  });
  watch.ended(FilePart::layout);
  std::vector<std::vector<std::uint64_t>> checksums;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    checksums.push_back(writer.write(file, communicator.all_reduce(offsets[i], MPI_MAX), arrays[i], flush));
  watch.ended(FilePart::values);
  on_root(communicator, [&] { complete(file, arrays, checksums, flush); });
  watch.ended(FilePart::flush);
}

}  // namespace

void write_arrays(const Communicator& communicator, const std::filesystem::path& file,
                  const ArrayFormat& format, const Attributes& attributes, const Box& box,
                  const std::vector<NamedRows>& arrays, const std::function<void(hid_t file)>& decorate,
                  UnflushedFiles* unflushed, const FileTurn& turn) {
  Stopwatch watch(turn);
  BlockWriter writer(communicator, format, box, turn);
  std::string found;
  on_root(communicator, [&] { found = hdf5_target(file); });
  const std::filesystem::path target = communicator.broadcast(found), temporary = temporary_name(target);
  // All arrays have the same number of blocks. If it is one, the same rank writes all of them.
  const Flush flush = unflushed && writer.blocks() == 1 ? Flush::later : Flush::now;
  try {
    if (format.compression == Compression::none)
      write_contiguous(communicator, temporary, format, attributes, arrays, decorate, writer, flush, turn,
                       watch);
    else
      write_compressed(communicator, temporary, format, attributes, arrays, decorate, writer, flush, watch);
    turn.wait();
    on_root(communicator, [&] { publish(temporary, target, flush); });
    if (flush == Flush::later && (communicator.root() || writer.has_blocks())) unflushed->add(target);
  } catch (const Error&) {
    std::error_code ignored;
    if (communicator.root()) std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace spsolve
