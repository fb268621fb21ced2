// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/hdf5/hdf5.hpp"

namespace spsolve {

/// Holds what HDF5 finds where it looks for a file that another one refers to. If both are empty, it finds
/// nothing that it can open.
struct LinkedFile {
  std::filesystem::path stream;  // a pipe or a device, for which HDF5 would wait without an end
  std::optional<Hdf5Id> file;
};

/// Looks as HDF5 does for another file, `name`, that `file` refers to: a source of a virtual dataset or the
/// target of an external link. HDF5 takes the first of several places where it can open a file. `prefixes`
/// names the environment variable that lists directories to look in, HDF5_VDS_PREFIX or HDF5_EXT_PREFIX.
LinkedFile linked_file(const std::filesystem::path& name, const std::filesystem::path& file,
                       const char* prefixes);

/// Returns a directory that an environment variable names. HDF5 takes "${ORIGIN}" at its beginning for the
/// directory of the file that refers to another.
std::filesystem::path directory_of(const std::string& prefix, const std::filesystem::path& file);

/// Makes HDF5 refuse external links to pipes and devices, which it would open without an end.
void refuse_links_to_streams();

}  // namespace spsolve
