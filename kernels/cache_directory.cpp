// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache_directory.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace spsolve {

std::filesystem::path cache_directory() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::filesystem::path(xdg) / "spsolve";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache" / "spsolve";
  return {};
}

std::optional<std::filesystem::path> cache_file(const std::string& name) {
  const std::filesystem::path directory = cache_directory();
  return directory.empty() ? std::nullopt : std::optional(directory / name);
}

std::optional<std::filesystem::path> cache_file(const std::string& kind, std::string device) {
  std::ranges::replace_if(
      device, [](unsigned char c) { return !std::isalnum(c); }, '-');
  return cache_file(kind + "-" + device + ".json");
}

}  // namespace spsolve
