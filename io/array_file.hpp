// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"
#include "io/atomic_file.hpp"
#include "io/file_turn.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve {

/// Writes `file` with its attributes and with `arrays` (at least one), which all have the shape and type of
/// `format`. Each becomes a dataset with its own checksums, and their values lie one after the other.
/// Collective: every rank gives its `box`; the union of all boxes is the array. All ranks name the same
/// arrays in the same order. The bytes of the file do not depend on the ranks. The file appears under its
/// name only when it is complete and on disk. If anything fails on any rank, for example because the disk is
/// full, all ranks throw the same Error(file_failure), and the former file of that name remains. `decorate`
/// adds to the file's layout on rank 0 (groups, links), before any data is written. Each rank needs memory
/// for a block (io/array_blocks.hpp) per thread and two for messages, 4 MiB each for arrays up to 16 GiB,
/// however many arrays there are.
///
/// An array with compression is a dataset of chunks (io/compressed_array.hpp), which the threads of all ranks
/// compress and rank 0 writes. Until it is complete, the file takes the disk space of uncompressed arrays.
///
/// `turn` says how the file shares the machine with others: it gets its name when its turn has come.
///
/// If `unflushed` is given and an array has one block, the file is complete when it gets its name but not yet
/// on disk; each rank that wrote to the file adds it to `unflushed`. A link at `file` is followed. A device,
/// a pipe or a socket at `file` is an Error(file_failure).
void write_arrays(const Communicator& communicator, const std::filesystem::path& file,
                  const ArrayFormat& format, const Attributes& attributes, const Box& box,
                  const std::vector<NamedRows>& arrays, const std::function<void(hid_t file)>& decorate = {},
                  UnflushedFiles* unflushed = nullptr, const FileTurn& turn = {});

}  // namespace spsolve
