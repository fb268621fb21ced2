// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "io/input/config.hpp"
#include "kernels/error.hpp"

/// Reads any bytes as an input: the TOML text, then overrides, with NUL between them. The result must be an
/// Error, or a configuration whose text reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> pieces;
  for (std::size_t begin = 0, end; begin <= size; begin = end + 1) {
    end = std::min(input.find('\0', begin), size);
    pieces.emplace_back(input.substr(begin, end - begin));
  }
  const std::string text = pieces.front();
  pieces.erase(pieces.begin());
  try {
    const spsolve::RunConfig config = spsolve::parse_config(text, "fuzz.toml", pieces);
    if (spsolve::parse_config(spsolve::to_toml(config), "fuzz.toml") != config) std::abort();
  } catch (const spsolve::Error& error) {
    if (error.status() != spsolve::Status::invalid_input) std::abort();
  }
  return 0;
}
