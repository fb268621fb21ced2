// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_blocks.hpp"
#include "io/array_format.hpp"
#include "io/atomic_file.hpp"

namespace spsolve {

/// The way of the values from the boxes of the ranks to the blocks of the file: for one or more arrays of the
/// same shape and type.
class BlockWriter {
 public:
  /// Collective. The boxes of all ranks must together be the array. The arguments must outlive the writer.
  BlockWriter(const Communicator& communicator, const ArrayFormat& format, const Box& box);

  /// Collective: writes all blocks of an array, whose first byte is at `offset`, and returns their checksums,
  /// on rank 0. Waits until the blocks are on disk unless `flush` is Flush::later. Throws the same Error on
  /// all ranks if any failed.
  std::vector<std::uint64_t> write(const std::filesystem::path& file, std::int64_t offset,
                                   const RowSource& row, Flush flush);

  /// Returns the number of blocks of an array.
  std::int64_t blocks() const { return blocks_.count(); }
  /// Returns true if this rank writes any block.
  bool has_blocks() const {
    const int rank = communicator_.rank(), ranks = communicator_.size();
    return blocks_.first_of(rank, ranks) < blocks_.first_of(rank + 1, ranks);
  }

 private:
  struct Range {
    std::int64_t begin, end;  // elements of the array in C order
  };

  Range range_of(int rank, std::int64_t round) const;
  template <class Visit>
  std::int64_t for_each_row(int owner, const Range& block, Visit&& visit) const;
  template <class Attempt>
  void exchange(std::int64_t round, int distance, const RowSource& row, Attempt&& attempt);
  std::vector<std::uint64_t> gathered(const std::vector<std::uint64_t>& own) const;

  const Communicator& communicator_;
  const ArrayFormat& format_;
  ArrayBlocks blocks_;
  std::vector<Box> boxes_;
  std::vector<std::byte> block_, outgoing_, incoming_;
};

}  // namespace spsolve
