// SPDX-License-Identifier: Apache-2.0
#include "io/block_writer.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "halo/collectively.hpp"
#include "io/atomic_file.hpp"
#include "io/file_descriptor.hpp"

namespace spsolve {
namespace {

constexpr int max_threads = 16;  // per rank: no file system is known that takes more than these write
constexpr std::int64_t piece_bytes = 256 << 10;  // the part of a block that is converted at a time

MPI_Datatype element_type(std::int64_t bytes) {
  return bytes == 8 ? MPI_UINT64_T : bytes == 4 ? MPI_UINT32_T : MPI_UINT16_T;
}

std::vector<Box> gather_boxes(const Communicator& communicator, const Box& box, const Index3& shape) {
  std::vector<Box> boxes = communicator.all_gather(box);
  std::int64_t points = 0;
  for (const Box& other : boxes) points += intersect(other, box_of(shape)).points();
  if (points != volume(shape))
    throw std::invalid_argument(fmt::format("boxes of {} points for an array of {}", points, volume(shape)));
  return boxes;
}

/// Takes the checksum of values that come in their order.
class Checksum {
 public:
  Checksum() : state_(XXH3_createState(), XXH3_freeState) {
    if (!state_) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }
  void add(std::span<const std::byte> values) {
    XXH3_64bits_update(state_.get(), values.data(), values.size());
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

BlockWriter::BlockWriter(const Communicator& communicator, const ArrayFormat& format, const Box& box,
                         const FileTurn& turn)
    : communicator_(communicator),
      format_(format),
      blocks_(format.compression == Compression::none
                  ? ArrayBlocks::of(volume(format.shape), format.element_bytes())
                  : chunks_of(format)),
      boxes_(gather_boxes(communicator, box, format.shape)),
      workers_(turn.workers) {
  const int threads = std::min(turn.threads > 0 ? turn.threads : omp_get_max_threads(), max_threads);
  const int files = format.compression == Compression::none ? turn.files : 1;
  const std::int64_t together = communicator.all_reduce(ceil_div(threads, files), MPI_MIN);
  under_way_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(rounds(), 1, together)));
}

/// Allocates the memory in which blocks are assembled: that of a piece suffices if all points of this rank's
/// blocks are its own.
void BlockWriter::make_buffers() {
  const std::int64_t block_points = std::min(blocks_.points, blocks_.block_points);
  const auto make = [&](std::vector<std::byte>& buffer, std::int64_t points) {
    buffer.resize(static_cast<std::size_t>(points * format_.element_bytes()));
  };
  bool shared = false;
  for (std::int64_t round = 0; round < rounds(); ++round) {
    const ElementRange own = range_of(communicator_.rank(), round);
    shared = shared || for_each_row(communicator_.rank(), own, [](auto&&...) {}) < own.end - own.begin;
  }
  const std::int64_t piece_points = std::min(block_points, piece_bytes / format_.element_bytes());
  for (auto& buffer : under_way_) make(buffer, shared ? block_points : piece_points);
  if (communicator_.size() == 1) return;
  make(outgoing_, block_points);
  make(incoming_, block_points);
}

/// Returns the values of a piece of a block where they are stored, or nothing if some of them are not stored
/// there. Rows that lie one after the other in memory are one span. Short spans are not returned either,
/// because the system takes longer for each of them than a copy takes.
BlockWriter::Spans BlockWriter::stored_spans(const NamedRows& array, const ElementRange& piece) const {
  constexpr std::size_t min_bytes = 512;  // the least mean length of a span
  Spans spans;
  if (!array.stored) return spans;
  Index3 first{};
  std::size_t found = 0;
  for_each_row(communicator_.rank(), piece,
               [&](const Index3& begin, std::int64_t points, std::int64_t, std::int64_t) {
                 const std::byte* const row = array.stored->field->bytes_at(begin);
                 const auto bytes = static_cast<std::size_t>(points * format_.element_bytes());
                 found += bytes;
                 if (spans.empty()) first = begin;
                 if (!spans.empty() && spans.back().data() + spans.back().size() == row)
                   spans.back() = {spans.back().data(), spans.back().size() + bytes};
                 else
                   spans.emplace_back(row, bytes);
               });
  const bool whole = found == static_cast<std::size_t>((piece.end - piece.begin) * format_.element_bytes());
  if (!whole || found < min_bytes * spans.size()) return {};
  const std::byte* const begin = spans.front().data();
  const std::byte* const end = spans.back().data() + spans.back().size();
  const std::byte* const on_host = array.stored->on_host(first, (end - begin) / format_.element_bytes());
  for (auto& span : spans) span = {on_host + (span.data() - begin), span.size()};
  return spans;
}

/// Calls visit(first element, values) for the pieces of a block, in their order. `buffer` is that of
/// make_buffers(); if it holds a whole block, the points of other ranks are there already.
template <class Visit>
void BlockWriter::for_each_piece(const NamedRows& array, const ElementRange& block,
                                 std::vector<std::byte>& buffer, Visit&& visit) const {
  const std::int64_t bytes = format_.element_bytes();
  const bool holds_block = std::ssize(buffer) >= (block.end - block.begin) * bytes;
  for (ElementRange piece{block.begin, 0}; piece.begin < block.end; piece.begin = piece.end) {
    piece.end = std::min(block.end, piece.begin + piece_bytes / bytes);
    Spans values = stored_spans(array, piece);
    if (values.empty()) {
      std::byte* const out = buffer.data() + (holds_block ? (piece.begin - block.begin) * bytes : 0);
      for_each_row(communicator_.rank(), piece,
                   [&](const Index3& begin, std::int64_t points, std::int64_t position, std::int64_t) {
                     array.row(begin, points, out + position * bytes);
                   });
      values.emplace_back(out, static_cast<std::size_t>((piece.end - piece.begin) * bytes));
    }
    if (array.inspect) std::ranges::for_each(values, array.inspect);
    visit(piece.begin, values);
  }
}

/// Goes through the rounds, in each of which this rank has a block or none. Calls make(array, range of the
/// block, its buffer) for each block on another thread, and take(round, result of make(), attempt) for each
/// round on this thread, in the order of the rounds. A rank that fails in make(), attempt() or `row`
/// continues to exchange, so that no other rank waits for it; take() then gets an empty result. Returns this
/// rank's first failure.
template <class Make, class Take>
std::optional<Error> BlockWriter::for_each_round(const NamedRows& array, const Make& make, const Take& take) {
  using Made =
      std::invoke_result_t<const Make&, const NamedRows&, const ElementRange&, std::vector<std::byte>&>;
  const int rank = communicator_.rank(), ranks = communicator_.size();
  std::optional<Error> failure;
  const auto attempt = [&](auto&& step) {
    if (failure) return;
    try {
      step();
    } catch (const Error& error) {
      failure = error;
    } catch (const std::bad_alloc&) {
      failure.emplace(Status::file_failure, "there is no memory left for writing the values");
    } catch (const std::system_error& error) {  // no thread can be started, for example
      failure.emplace(Status::file_failure, fmt::format("cannot write the values: {}", error.what()));
    }
  };
  const std::int64_t count = rounds(), together = std::ssize(under_way_);
  std::vector<NamedRows> arrays;  // a copy for each thread
  attempt([&] { arrays.assign(under_way_.size(), array); });
  std::array<std::future<Made>, max_threads> made;
  const auto end = [&](std::int64_t round) {
    Made result{};
    std::future<Made>& of_round = made[static_cast<std::size_t>(round % together)];
    if (of_round.valid()) attempt([&] { result = of_round.get(); });
    take(round, result, attempt);
  };
  for (std::int64_t round = 0; round < count; ++round) {
    if (round >= together) end(round - together);
    const auto slot = static_cast<std::size_t>(round % together);
    std::vector<std::byte>& block = under_way_[slot];
    for (int distance = 1; distance < ranks; ++distance) exchange(round, distance, array.row, block, attempt);
    const ElementRange own = range_of(rank, round);
    if (own.begin == own.end) continue;
    attempt([&] {
      made[slot] = std::async(together > 1 ? std::launch::async : std::launch::deferred,
                              [&, own, slot] { return make(arrays[slot], own, block); });
    });
  }
  for (std::int64_t round = std::max<std::int64_t>(0, count - together); round < count; ++round) end(round);
  return failure;
}

std::vector<std::uint64_t> BlockWriter::compress(const NamedRows& array, const TakeChunk& take) {
  collectively(communicator_, [&] { make_buffers(); });
  std::vector<std::uint64_t> checksums;
  const auto chunk_bytes = static_cast<std::size_t>(blocks_.block_points * format_.element_bytes());
  const auto encode = [&](const NamedRows& rows, const ElementRange& own, std::vector<std::byte>& buffer) {
    const WorkTurn turn(workers_);
    Checksum checksum;
    std::vector<std::byte> values;
    values.reserve(chunk_bytes);
    for_each_piece(rows, own, buffer, [&](std::int64_t, const Spans& piece) {
      for (const auto span : piece) {
        checksum.add(span);
        values.insert(values.end(), span.begin(), span.end());
      }
    });
    values.resize(chunk_bytes);  // the last chunk is stored padded with zeros
    return OwnChunk{checksum.value(), encoded_chunk(values, format_)};
  };
  const auto failure =
      for_each_round(array, encode, [&](std::int64_t round, const OwnChunk& own, const auto& attempt) {
        collect(round, own, checksums, [&](std::int64_t chunk, const EncodedChunk& of_rank) {
          attempt([&] { take(chunk, of_rank); });
        });
      });
  collectively(communicator_, [&] {
    if (failure) throw Error(*failure);
  });
  return checksums;
}

/// Rank 0 receives the chunks of a round from all ranks, in their order; the others send theirs.
void BlockWriter::collect(std::int64_t round, const OwnChunk& own, std::vector<std::uint64_t>& checksums,
                          const TakeChunk& take) {
  const std::array<std::uint64_t, 3> about{own.checksum, own.encoded.skipped, own.encoded.bytes.size()};
  const auto send = [&](const void* data, std::size_t count, MPI_Datatype type) {
    check_mpi(MPI_Send(data, static_cast<int>(count), type, 0, 0, communicator_.handle()));
  };
  if (!communicator_.root()) {
    if (block_of(communicator_.rank(), round) == blocks_.count()) return;
    send(about.data(), about.size(), MPI_UINT64_T);
    return send(own.encoded.bytes.data(), own.encoded.bytes.size(), MPI_BYTE);
  }
  for (int rank = 0; rank < communicator_.size() && block_of(rank, round) < blocks_.count(); ++rank) {
    std::array<std::uint64_t, 3> of_rank = about;
    EncodedChunk received;
    const auto receive = [&](void* data, std::size_t count, MPI_Datatype type) {
      check_mpi(
          MPI_Recv(data, static_cast<int>(count), type, rank, 0, communicator_.handle(), MPI_STATUS_IGNORE));
    };
    if (rank > 0) {
      receive(of_rank.data(), of_rank.size(), MPI_UINT64_T);
      received.skipped = static_cast<std::uint32_t>(of_rank[1]);
      received.bytes.resize(of_rank[2]);
      receive(received.bytes.data(), received.bytes.size(), MPI_BYTE);
    }
    checksums.push_back(of_rank[0]);
    const EncodedChunk& encoded = rank > 0 ? received : own.encoded;
    if (!encoded.bytes.empty()) take(block_of(rank, round), encoded);  // none: that rank has failed
  }
}

std::vector<std::uint64_t> BlockWriter::write(const std::filesystem::path& file, std::int64_t offset,
                                              const NamedRows& array, Flush flush) {
  std::optional<FileDescriptor> output;
  collectively(communicator_, [&] {
    make_buffers();
    output.emplace(file, FileDescriptor::Mode::modify);
  });
  std::vector<std::uint64_t> checksums;
  const std::int64_t bytes = format_.element_bytes();
  const auto write_block = [&](const NamedRows& rows, const ElementRange& own,
                               std::vector<std::byte>& buffer) {
    const WorkTurn turn(workers_);
    Checksum checksum;
    for_each_piece(rows, own, buffer, [&](std::int64_t first, const Spans& piece) {
      for (const auto span : piece) checksum.add(span);
      output->write(offset + first * bytes, piece);
    });
    if (flush == Flush::now) output->begin_flush(offset + own.begin * bytes, (own.end - own.begin) * bytes);
    return checksum.value();
  };
  const auto failure =
      for_each_round(array, write_block, [&](std::int64_t round, std::uint64_t checksum, const auto&) {
        if (block_of(communicator_.rank(), round) < blocks_.count()) checksums.push_back(checksum);
      });
  collectively(communicator_, [&] {
    if (failure) throw Error(*failure);
    // The rank that completes the file flushes it on its own machine, but other machines have their own
    // caches.
    if (flush == Flush::now && communicator_.size() > 1) output->flush();
    output->close();
  });
  return gathered(checksums);
}

/// Returns the block that a rank assembles in a round, which is empty if it has no block left.
BlockWriter::ElementRange BlockWriter::range_of(int rank, std::int64_t round) const {
  const std::int64_t block = block_of(rank, round);
  if (block >= blocks_.count()) return {0, 0};
  return {blocks_.begin(block), blocks_.end(block)};
}

/// Chunks are assigned to ranks in turn, so that rank 0 receives them in the order of the file.
std::int64_t BlockWriter::block_of(int rank, std::int64_t round) const {
  const int ranks = communicator_.size();
  if (format_.compression != Compression::none) return std::min(round * ranks + rank, blocks_.count());
  const std::int64_t block = blocks_.first_of(rank, ranks) + round;
  return block < blocks_.first_of(rank + 1, ranks) ? block : blocks_.count();
}

/// Calls visit(begin, points, position in the block, position in the message) for the rows of a rank's box
/// that lie in a block, and returns the length of the message.
template <class Visit>
std::int64_t BlockWriter::for_each_row(int owner, const ElementRange& block, Visit&& visit) const {
  std::int64_t packed = 0;
  for_each_segment(format_.shape, boxes_[static_cast<std::size_t>(owner)], block.begin, block.end,
                   [&](const Index3& begin, std::int64_t points, std::int64_t position) {
                     visit(begin, points, position - block.begin, packed);
                     packed += points;
                   });
  return packed;
}

/// In each exchange a rank sends one message to the rank `distance` further and receives one from the rank as
/// far behind, unless it would be empty. Two buffers suffice for any decomposition.
template <class Attempt>
void BlockWriter::exchange(std::int64_t round, int distance, const RowSource& row,
                           std::vector<std::byte>& block, Attempt&& attempt) {
  const int rank = communicator_.rank(), ranks = communicator_.size();
  const int to = (rank + distance) % ranks, from = (rank - distance + ranks) % ranks;
  const std::int64_t bytes = format_.element_bytes();
  const ElementRange theirs = range_of(to, round), own = range_of(rank, round);
  const std::int64_t sent = for_each_row(
      rank, theirs, [&](const Index3& begin, std::int64_t points, std::int64_t, std::int64_t packed) {
        attempt([&] { row(begin, points, outgoing_.data() + packed * bytes); });
      });
  const std::int64_t received = for_each_row(from, own, [](auto&&...) {});
  check_mpi(MPI_Sendrecv(outgoing_.data(), static_cast<int>(sent), element_type(bytes),
                         sent ? to : MPI_PROC_NULL, 0, incoming_.data(), static_cast<int>(received),
                         element_type(bytes), received ? from : MPI_PROC_NULL, 0, communicator_.handle(),
                         MPI_STATUS_IGNORE));
  for_each_row(
      from, own, [&](const Index3&, std::int64_t points, std::int64_t position, std::int64_t packed) {
        std::copy_n(incoming_.data() + packed * bytes, points * bytes, block.data() + position * bytes);
      });
}

std::vector<std::uint64_t> BlockWriter::gathered(const std::vector<std::uint64_t>& own) const {
  const int ranks = communicator_.size();
  std::vector<int> counts, begins;
  for (int rank = 0; rank < ranks; ++rank) {
    begins.push_back(static_cast<int>(blocks_.first_of(rank, ranks)));
    counts.push_back(static_cast<int>(blocks_.first_of(rank + 1, ranks)) - begins.back());
  }
  std::vector<std::uint64_t> all(communicator_.root() ? static_cast<std::size_t>(blocks_.count()) : 0);
  check_mpi(MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, all.data(), counts.data(),
                        begins.data(), MPI_UINT64_T, 0, communicator_.handle()));
  return all;
}

}  // namespace spsolve
