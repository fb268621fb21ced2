// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spsolve {

/// Says why a child process cannot read what an HDF5 file says of itself: links, attributes, datasets, where
/// their values lie, and some million values, of up to some thousand objects. The HDF5 library writes to wild
/// addresses on some damaged files, and the child dies in place of the run. Only files of the formats before
/// 1.8 are tried, because later formats have checksums on their metadata, as all files of spsolve do. Files
/// that `file` refers to are left out. Types of numbers and lengths of chunks that HDF5 must not trust are
/// refused, too. Returns an empty text if the child can read the file, if that is no HDF5 file, or if no
/// process can be started; else a clause that begins with a verb. A file that has not changed for some
/// seconds is tried once, or until a trial has shown how all others would end. `file` may be read by several
/// ranks at a time.
std::string failure_of_trial(const std::filesystem::path& file);

}  // namespace spsolve
