// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace spsolve::cuda {

/// Writes a generated file. A file that holds the text already keeps its time, so that ninja compiles nothing
/// that includes it.
inline void write_if_changed(const std::string& file, const std::string& text) {
  std::ifstream before(file, std::ios::binary);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return;
  before.close();
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace spsolve::cuda
