// SPDX-License-Identifier: Apache-2.0
#include "app/machine/control_groups.hpp"

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

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

/// Returns true if `path` is `group` or a group below it.
bool is_below(const fs::path& path, const fs::path& group) {
  const fs::path relative = path.lexically_relative(group);
  return !relative.empty() && *relative.begin() != "..";
}

/// Returns a word of a list of mounts without its escapes (\040 is a blank).
std::string without_escapes(const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] == '\\' && i + 3 < word.size())
      text += static_cast<char>(std::stoi(word.substr(std::exchange(i, i + 3) + 1, 3), nullptr, 8));
    else
      text += word[i];
  return text;
}

/// Finds the tree of a controller among the mounts of this process (proc(5)). Version 2 has one tree for all
/// controllers. If it is mounted several times, a mount that shows the group `path` is taken. Without a list
/// of mounts the usual places are taken.
Mount mount_of(const std::string& controller, int version, const fs::path& path, const fs::path& root) {
  std::optional<Mount> first;
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
    if (!fits) continue;
    const Mount found{root / fs::path(without_escapes(directory)).relative_path(), without_escapes(group)};
    if (is_below(path, found.group)) return found;
    if (!first) first = found;
  }
  if (first) return *first;
  return {version == 2 ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller, "/"};
}

/// Returns `path` as it is below the group that a mount shows. A container may see a path that is not below
/// it.
fs::path below(const fs::path& path, const fs::path& shown) {
  return is_below(path, shown) ? path.lexically_relative(shown) : path.relative_path();
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
    const fs::path own = fs::path(path).lexically_normal();
    const Mount mount = mount_of(controller, version, own, root);
    for (fs::path group = below(own, mount.group);; group = group.parent_path()) {
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
