// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace spsolve::testing {

/// Opens the bytes of an HDF5 file in memory, from which recipes begin, and returns its identifier.
hid_t open_base(std::vector<std::uint8_t> image);

/// Makes the HDF5 file at `path` that the bytes of a recipe describe: datasets, attributes and links, which
/// are added to a copy of one of `bases` or to an empty file. Every recipe makes a file, because what the
/// HDF5 library refuses is left out. Random changes of the bytes of a file hardly ever reach the readers,
/// because its metadata have checksums; random recipes do.
void follow_recipe(std::span<const std::uint8_t> recipe, std::span<const hid_t> bases,
                   const std::filesystem::path& path);

}  // namespace spsolve::testing
