// SPDX-License-Identifier: Apache-2.0
#include "app/machine/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace spsolve {
namespace {

namespace fs = std::filesystem;

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
    if (!controllers.empty() && ("," + controllers + ",").find("," + controller + ",") == std::string::npos)
      continue;
    const int version = controllers.empty() ? 2 : 1;
    const fs::path mount = version == 2 ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller;
    for (fs::path group = fs::path(path).lexically_normal().relative_path();; group = group.parent_path()) {
      visit(mount / group, version);
      if (group.empty()) break;
    }
  }
}

double processor_quota(const fs::path& root) {
  double least = std::numeric_limits<double>::infinity();
  for_each_control_group("cpu", root, [&](const fs::path& directory, int version) {
    least = std::min(least, quota_of(directory, version));
  });
  return least;
}

}  // namespace spsolve
