// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <filesystem>
#include <string>

namespace spsolve {

/// Returns the part of a path that only shells expand: "~" or "~name" in front, "$NAME" or "${NAME}"
/// anywhere. Without a shell it would become the name of a directory. Returns an empty text if there is no
/// such part.
inline std::string shell_word(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (text.starts_with('~')) return text.substr(0, text.find('/'));
  for (std::size_t i = text.find('$'); i != std::string::npos; i = text.find('$', i + 1)) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (next == '{') return text.substr(i, text.find('}', i) - i + 1);
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (!std::isdigit(static_cast<unsigned char>(next)) && end > i + 1) return text.substr(i, end - i);
  }
  return "";
}

}  // namespace spsolve
