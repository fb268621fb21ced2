// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kernels/error.hpp"

/// These helpers serve calls of the operating system.
namespace spsolve {

/// Throws Error(file_failure): the file, the action that failed and the system's text for `error` (an errno).
[[noreturn]] inline void fail_at(const std::filesystem::path& file, const char* action, int error) {
  throw Error(Status::file_failure,
              fmt::format("{}: cannot {}: {}", file.string(), action, std::strerror(error)));
}

/// Calls a system function again while a signal interrupts it.
template <class Call>
auto retry(Call&& call) {
  decltype(call()) result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

/// Returns the directory of a file, "." for a name alone.
inline std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace spsolve
