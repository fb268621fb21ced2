// SPDX-License-Identifier: Apache-2.0
#include "app/machine/directory_text.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "app/machine/host_memory.hpp"

namespace spsolve {

namespace fs = std::filesystem;

namespace {

/// Returns the absolute path of a directory without `.`, `..` and a slash at its end.
fs::path absolute_path(const fs::path& directory) {
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

}  // namespace

fs::path nearest_existing(const fs::path& directory) {
  fs::path existing = absolute_path(directory);
  std::error_code unseen;  // for example behind a directory that others may not enter
  while (!fs::exists(existing, unseen)) existing = existing.parent_path();
  return existing;
}

std::string why_not_writable(const fs::path& directory) {
  std::error_code why;
  const fs::path absolute = absolute_path(directory), existing = nearest_existing(absolute);
  if (!fs::exists(absolute, why) &&
      (why == std::errc::filename_too_long || why == std::errc::too_many_symbolic_link_levels))
    return fmt::format("cannot be made: {}", why.message());
  for (fs::path part = absolute; part != existing; part = part.parent_path())
    if (fs::is_symlink(part, why))
      return fmt::format("{} a link to {}, which does not exist",
                         part == absolute ? "is" : fmt::format("lies below {},", part.string()),
                         fs::read_symlink(part, why).string());
  if (!fs::is_directory(existing, why))
    return fmt::format("cannot be made: {} is no directory", existing.string());
  return access(existing.c_str(), W_OK | X_OK) == 0
             ? ""
             : fmt::format("cannot be written to: {}: {}", existing.string(), std::strerror(errno));
}

std::string directory_text(const fs::path& directory) {
  struct statfs status {};
  const fs::path absolute = absolute_path(directory);
  const fs::path existing = nearest_existing(absolute);
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
                     why_not_writable(absolute).empty() ? "" : ", not writable");
}

}  // namespace spsolve
