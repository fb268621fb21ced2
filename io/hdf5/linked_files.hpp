// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace spsolve {

/// Lists the places where HDF5 looks for another file, `name`, that `file` refers to: a source of a virtual
/// dataset or the target of an external link. `prefixes` names the variable of the environment that holds
/// directories for it, HDF5_VDS_PREFIX or HDF5_EXT_PREFIX.
std::vector<std::filesystem::path> places_of(const std::filesystem::path& name,
                                             const std::filesystem::path& file, const char* prefixes);

/// From now on HDF5 follows no external link to a pipe or a device, which it would open without an end.
void refuse_links_to_streams();

}  // namespace spsolve
