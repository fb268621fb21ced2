// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"
#include "io/atomic_file.hpp"
#include "io/hdf5.hpp"

namespace spsolve {

/// Attributes "format" and "format_version" at the root of every file of ours. The version grows when an
/// older program would misread a newer file.
constexpr std::string_view snapshot_format = "spsolve snapshot";
constexpr std::string_view checkpoint_format = "spsolve checkpoint";
constexpr std::int64_t format_version = 1;

/// Writes `file` with the array /u, the attributes of the file and the checksums of /u. Collective: every
/// rank gives its `box`; together they are the array. The bytes of the file do not depend on the ranks. The
/// file appears under its name only when it is whole and on disk; if anything fails on any rank, the disk
/// being full included, all ranks throw the same Error(file_failure) and what had that name before is still
/// there. `decorate` adds to the file's layout on rank 0 (groups, links), before any data is written. Each
/// rank needs memory for three blocks (io/array_blocks.hpp), 4 MiB each for arrays up to 16 GiB. With
/// `unflushed` an array of one block is whole when it gets its name, but not yet on disk: each rank that
/// wrote to it adds it there. Links are followed.
void write_array(const Communicator& communicator, const std::filesystem::path& file,
                 const ArrayFormat& format, const Attributes& attributes, const Box& box,
                 const RowSource& row, const std::function<void(hid_t file)>& decorate = {},
                 UnflushedFiles* unflushed = nullptr);

}  // namespace spsolve
