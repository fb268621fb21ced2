// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace spsolve::testing {

/// Writes a file unless it has this text, so that what is compiled from it is not compiled again.
inline void write_changed(const std::filesystem::path& path, const std::string& text) {
  std::ifstream written(path);
  if (written && std::string(std::istreambuf_iterator<char>(written), {}) == text) return;
  std::ofstream(path) << text;
}

}  // namespace spsolve::testing
