// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace spsolve {

/// Calls visit(directory, version) for the control groups of this process, from its own up to the root, that
/// may limit what `controller` ("memory", "cpu") stands for: version 2 has one tree for all, version 1 one
/// for each. A container may see its group as the root. `root`: of the file system that says so.
void for_each_control_group(
    const std::string& controller, const std::filesystem::path& root,
    const std::function<void(const std::filesystem::path& directory, int version)>& visit);

/// The number that follows `key` in a file, or with which it begins; `otherwise` where there is none ("max").
double number_in(const std::filesystem::path& file, const std::string& key, double otherwise);

/// How many processors' time this process may take, by the quotas of its control groups (docker --cpus, batch
/// systems); infinite without any.
double processor_quota(const std::filesystem::path& root = "/");

}  // namespace spsolve
