// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_blocks.hpp"
#include "io/array_format.hpp"
#include "io/atomic_file.hpp"
#include "io/compressed_array.hpp"
#include "io/file_turn.hpp"

namespace spsolve {

/// Moves the values of one or more arrays of the same shape and type from the boxes of the ranks to the
/// blocks of a file. A rank works on several blocks at a time, each on a thread of its own, because one
/// thread copies and compresses more slowly than file systems write. A block is made in pieces that stay in
/// the cache of a core while they are converted, checksummed and written.
class BlockWriter {
 public:
  /// Prepares the exchange of values. Collective. The boxes of all ranks must cover the array. The arguments
  /// must outlive the writer. A format without compression has the blocks of ArrayBlocks::of(), one with
  /// compression its chunks. `turn` says how many files share the threads of a rank. A file that is written
  /// as it is takes its share of them. A file that is compressed takes any threads that are free.
  BlockWriter(const Communicator& communicator, const ArrayFormat& format, const Box& box,
              const FileTurn& turn = {});

  /// Writes all blocks of an array, whose first byte is at `offset`, and returns their checksums on rank 0.
  /// Waits until the blocks are on disk unless `flush` is Flush::later. Collective; throws the same Error on
  /// all ranks if any failed.
  std::vector<std::uint64_t> write(const std::filesystem::path& file, std::int64_t offset,
                                   const NamedRows& array, Flush flush);

  /// Encodes the chunks of a compressed array, each rank its own, and sends them to rank 0, which calls
  /// take() in their order. Returns the checksums of their values on rank 0. Collective; throws as write().
  using TakeChunk = std::function<void(std::int64_t chunk, const EncodedChunk& encoded)>;
  std::vector<std::uint64_t> compress(const NamedRows& array, const TakeChunk& take);

  /// Returns the number of blocks of an array.
  std::int64_t blocks() const { return blocks_.count(); }
  /// Returns true if this rank writes any block.
  bool has_blocks() const {
    const int rank = communicator_.rank(), ranks = communicator_.size();
    return blocks_.first_of(rank, ranks) < blocks_.first_of(rank + 1, ranks);
  }

 private:
  struct ElementRange {
    std::int64_t begin, end;  // elements of the array in C order
  };

  /// Returns the number of the block that a rank assembles in a round, or the count of blocks if it has none
  /// left.
  std::int64_t block_of(int rank, std::int64_t round) const;
  ElementRange range_of(int rank, std::int64_t round) const;
  /// Holds a chunk of this rank, and the checksum of its values.
  struct OwnChunk {
    std::uint64_t checksum = 0;
    EncodedChunk encoded = {};
  };
  std::int64_t rounds() const { return ceil_div<std::int64_t>(blocks_.count(), communicator_.size()); }
  void make_buffers();
  /// Holds values that lie one after the other in the file.
  using Spans = std::vector<std::span<const std::byte>>;
  Spans stored_spans(const NamedRows& array, const ElementRange& piece) const;
  template <class Visit>
  void for_each_piece(const NamedRows& array, const ElementRange& block, std::vector<std::byte>& buffer,
                      Visit&& visit) const;
  template <class Make, class Take>
  std::optional<Error> for_each_round(const NamedRows& array, const Make& make, const Take& take);
  void collect(std::int64_t round, const OwnChunk& own, std::vector<std::uint64_t>& checksums,
               const TakeChunk& take);
  template <class Visit>
  std::int64_t for_each_row(int owner, const ElementRange& block, Visit&& visit) const;
  template <class Attempt>
  void exchange(std::int64_t round, int distance, const RowSource& row, std::vector<std::byte>& block,
                Attempt&& attempt);
  std::vector<std::uint64_t> gathered(const std::vector<std::uint64_t>& own) const;

  const Communicator& communicator_;
  const ArrayFormat& format_;
  ArrayBlocks blocks_;
  std::vector<Box> boxes_;
  std::counting_semaphore<>* workers_;             // FileTurn::workers
  std::vector<std::vector<std::byte>> under_way_;  // blocks on their way; the same number on all ranks
  std::vector<std::byte> outgoing_, incoming_;
};

}  // namespace spsolve
