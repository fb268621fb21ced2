// SPDX-License-Identifier: Apache-2.0
#include "io/input/shell_word.hpp"

#include <cctype>

namespace spsolve {

namespace {

/// Returns the first "%NAME%" of a text, as Windows writes variables, or an empty text.
std::string variable_of_windows(const std::string& text) {
  for (std::size_t begin = text.find('%'); begin != std::string::npos; begin = text.find('%', begin + 1)) {
    std::size_t end = begin + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
                                 text[end] == '(' || text[end] == ')'))
      ++end;
    const bool named = end > begin + 1 && !std::isdigit(static_cast<unsigned char>(text[begin + 1]));
    if (named && end < text.size() && text[end] == '%') return text.substr(begin, end - begin + 1);
  }
  return "";
}

}  // namespace

std::string shell_word(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (const std::string variable = variable_of_windows(text); !variable.empty()) return variable;
  if (text.starts_with('~')) return text.substr(0, text.find('/'));
  if (const std::size_t tick = text.find('`'); tick != std::string::npos)
    if (const std::size_t end = text.find('`', tick + 1); end != std::string::npos)
      return text.substr(tick, end - tick + 1);
  for (std::size_t i = text.find('$'); i != std::string::npos; i = text.find('$', i + 1)) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (next == '{' || next == '(') return text.substr(i, text.find(next == '{' ? '}' : ')', i) - i + 1);
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (!std::isdigit(static_cast<unsigned char>(next)) && end > i + 1) return text.substr(i, end - i);
  }
  return "";
}

}  // namespace spsolve
