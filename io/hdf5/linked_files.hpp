// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/hdf5/hdf5.hpp"

namespace spsolve {

/// Holds what HDF5 finds where it looks for a file that another one refers to. If `file` and `refusal` are
/// empty, it finds nothing that it can open.
struct LinkedFile {
  std::filesystem::path place;
  /// Says why HDF5 must not open the file: it would wait for a pipe or a device without an end, or it would
  /// not survive reading a damaged file. The clause begins with a verb.
  std::string refusal;
  std::optional<Hdf5Id> file;
};

/// Says why HDF5 must not open a pipe or a device, as LinkedFile::refusal does.
constexpr const char* refusal_of_stream = "is a pipe or a device; HDF5 reads a file in any order";

/// Looks as HDF5 does for another file, `name`, that `file` refers to: a source of a virtual dataset or the
/// target of an external link. HDF5 takes the first of several places where it can open a file. `prefixes`
/// names the environment variable that lists directories to look in, vds_prefixes or link_prefixes.
LinkedFile linked_file(const std::filesystem::path& name, const std::filesystem::path& file,
                       const char* prefixes);

/// Name the environment variables with directories for sources of virtual datasets and for targets of
/// external links.
constexpr const char *vds_prefixes = "HDF5_VDS_PREFIX", *link_prefixes = "HDF5_EXT_PREFIX";

/// Returns a directory that an environment variable names. HDF5 takes "${ORIGIN}" at its beginning for the
/// directory of the file that refers to another.
std::filesystem::path directory_of(const std::string& prefix, const std::filesystem::path& file);

/// Makes HDF5 refuse external links to files that linked_file() refuses.
void refuse_unsafe_links();

}  // namespace spsolve
