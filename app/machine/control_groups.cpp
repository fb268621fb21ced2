// SPDX-License-Identifier: Apache-2.0
#include "app/machine/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Returns true if a list with commas names a controller.
bool names(const std::string& list, const std::string& controller) {
  return ("," + list + ",").find("," + controller + ",") != std::string::npos;
}

/// Returns quota / period of a control group, in processors.
double quota_of(const fs::path& directory, int version) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  if (version == 1) {
    const double quota = number_in(directory / "cpu.cfs_quota_us", "", -1);
    const double period = number_in(directory / "cpu.cfs_period_us", "", 0);
    return quota > 0 && period > 0 ? quota / period : unlimited;
  }
  std::ifstream text(directory / "cpu.max");
  double quota = 0, period = 0;
  return text >> quota >> period && quota > 0 && period > 0 ? quota / period : unlimited;
}

/// Holds where a tree of control groups is mounted, and which group of it appears there.
struct Mount {
  fs::path directory, group;
};

/// Finds the tree of a controller among the mounts of this process (proc(5)). Version 2 has one tree for all
/// controllers. Without a list of mounts the usual places are taken.
Mount mount_of(const std::string& controller, int version, const fs::path& root) {
  std::ifstream mounts(root / "proc/self/mountinfo");
  // A line is: number, parent, device, group, directory, options, optional fields, "-", type, source,
  // options.
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string skipped, group, directory, type, source, options;
    words >> skipped >> skipped >> skipped >> group >> directory;
    while (words >> skipped && skipped != "-") continue;
    words >> type >> source >> options;
    const bool fits = version == 2 ? type == "cgroup2" : type == "cgroup" && names(options, controller);
    if (fits) return {root / fs::path(directory).relative_path(), group};
  }
  return {version == 2 ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller, "/"};
}

/// Returns `path` as it is below the group that a mount shows. A container may see a path that is not below
/// it.
fs::path below(const fs::path& path, const fs::path& shown) {
  const fs::path relative = path.lexically_relative(shown);
  return relative.empty() || *relative.begin() == ".." ? path.relative_path() : relative;
}

}  // namespace

double number_in(const fs::path& file, const std::string& key, double otherwise) {
  std::ifstream text(file);
  for (std::string word; !key.empty() && word != key && text;) text >> word;
  double number = 0;
  return text >> number ? number : otherwise;
}

void for_each_control_group(const std::string& controller, const fs::path& root,
                            const std::function<void(const fs::path& directory, int version)>& visit) {
  std::ifstream groups(root / "proc/self/cgroup");
  // Lines are "number:controllers:path"; version 2 names no controllers.
  for (std::string number, controllers, path; std::getline(groups, number, ':') &&
                                              std::getline(groups, controllers, ':') &&
                                              std::getline(groups, path);) {
    if (!controllers.empty() && !names(controllers, controller)) continue;
    const int version = controllers.empty() ? 2 : 1;
    const Mount mount = mount_of(controller, version, root);
    for (fs::path group = below(fs::path(path).lexically_normal(), mount.group);;
         group = group.parent_path()) {
      if (group == ".") group.clear();
      visit(mount.directory / group, version);
      if (group.empty()) break;
    }
  }
}

ProcessorQuota processor_quota(const fs::path& root) {
  ProcessorQuota least{std::numeric_limits<double>::infinity(), {}};
  for_each_control_group("cpu", root, [&](const fs::path& directory, int version) {
    const double processors = quota_of(directory, version);
    if (processors < least.processors) least = {processors, directory};
  });
  return least;
}

}  // namespace spsolve
