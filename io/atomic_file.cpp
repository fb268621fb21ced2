// SPDX-License-Identifier: Apache-2.0
#include "io/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <set>

#include "halo/machine.hpp"
#include "io/file_descriptor.hpp"
#include "io/system_call.hpp"

namespace spsolve {

std::filesystem::path temporary_name(const std::filesystem::path& file) { return file.string() + ".tmp"; }

std::filesystem::path own_temporary_name(const std::filesystem::path& file) {
  return temporary_name(fmt::format("{}.{}.{}", file.string(), host_name(), ::getpid()));
}

void publish(const std::filesystem::path& temporary, const std::filesystem::path& file, Flush flush) {
  if (std::rename(temporary.c_str(), file.c_str()) != 0) fail_at(file, "rename", errno);
  if (flush == Flush::now) FileDescriptor(directory_of(file), FileDescriptor::Mode::read).flush();
}

void UnflushedFiles::add(const std::filesystem::path& file) {
  if (files_.empty()) since_ = std::chrono::steady_clock::now();
  files_.push_back(file);
}

void UnflushedFiles::flush() {
  constexpr std::size_t few = 8;
  const std::set<std::filesystem::path> files(files_.begin(), files_.end());
  std::set<std::filesystem::path> directories;
  for (const auto& file : files) {
    directories.insert(directory_of(file));
    std::error_code gone;
    if (files.size() <= few && std::filesystem::exists(file, gone))
      FileDescriptor(file, FileDescriptor::Mode::read).flush();
  }
  for (const auto& directory : directories) {
    const FileDescriptor entry(directory, FileDescriptor::Mode::read);
    if (files.size() <= few)
      entry.flush();
    else
      entry.flush_file_system();
  }
  files_.clear();
}

void UnflushedFiles::flush_if_due() {
  constexpr std::chrono::seconds longest(5);
  if (!files_.empty() && std::chrono::steady_clock::now() - since_ > longest) flush();
}

}  // namespace spsolve
