// SPDX-License-Identifier: Apache-2.0
#include "app/machine/directory_text.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <map>

#include "app/machine/host_memory.hpp"

namespace spsolve {

std::string directory_text(const std::filesystem::path& directory) {
  struct statfs status {};
  const std::filesystem::path absolute = std::filesystem::absolute(directory).lexically_normal();
  std::filesystem::path existing = absolute;
  std::error_code unseen;  // for example behind a directory that others may not enter
  while (!std::filesystem::exists(existing, unseen)) existing = existing.parent_path();
  const bool writable =
      std::filesystem::is_directory(existing, unseen) && access(existing.c_str(), W_OK | X_OK) == 0;
  if (statfs(existing.c_str(), &status) != 0) return absolute.string();
  const double free = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_bsize);
  static const std::map<unsigned long, const char*> types{{0x01021994, "tmpfs"},
                                                          {0x6969, "NFS"},
                                                          {0x0BD00BD0, "Lustre"},
                                                          {0x47504653, "GPFS"},
                                                          {0x19830326, "BeeGFS"}};
  const auto type = types.find(static_cast<unsigned long>(status.f_type));
  return fmt::format("{} ({}{}, {} free{})", absolute.string(),
                     existing == absolute ? "" : fmt::format("file system of {}: ", existing.string()),
                     type == types.end() ? "local" : type->second, size_text(free),
                     writable ? "" : ", not writable");
}

}  // namespace spsolve
