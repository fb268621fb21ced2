// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spsolve {

/// Describes a directory, which may not exist yet, and its file system: its kind, its free space, and whether
/// this process may write there.
std::string directory_text(const std::filesystem::path& directory);

/// Returns a directory, as an absolute path, or the nearest one above it that exists.
std::filesystem::path nearest_existing(const std::filesystem::path& directory);

/// Says why this process cannot write files to a directory, which may not exist yet. Returns an empty text if
/// it can.
std::string why_not_writable(const std::filesystem::path& directory);

}  // namespace spsolve
