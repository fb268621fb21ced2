// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace spsolve {

/// Calls visit(directory, version) for every control group of this process that may limit the resource
/// `controller` ("memory", "cpu"), from the process's own group up to the root group. Version 2 has one tree
/// of groups for all resources, version 1 has one tree per resource. A container may see its group as the
/// root group. `root` is the root of the file system that holds proc and sys.
void for_each_control_group(
    const std::string& controller, const std::filesystem::path& root,
    const std::function<void(const std::filesystem::path& directory, int version)>& visit);

/// Returns the number that follows `key` in a file, or the number at its beginning if `key` is empty. Returns
/// `otherwise` if there is no number there (the text may be "max").
double number_in(const std::filesystem::path& file, const std::string& key, double otherwise);

/// Holds the processors that quotas of control groups (docker --cpus, batch systems) allow this process, and
/// the group that has the quota. Without a quota the number is infinite and the path empty.
struct ProcessorQuota {
  double processors;
  std::filesystem::path group;
};
ProcessorQuota processor_quota(const std::filesystem::path& root = "/");

}  // namespace spsolve
