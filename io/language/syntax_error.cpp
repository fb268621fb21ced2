// SPDX-License-Identifier: Apache-2.0
#include "io/language/syntax_error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace spsolve {

namespace {

constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

/// Returns the line, or the part of a long one around the column, with a caret below.
std::string underlined(std::string_view line, int column) {
  constexpr int before = 60, after = 40;  // characters
  std::string shown, space;
  int at = 1;
  for (std::size_t i = 0; i < line.size(); ++at) {
    const std::size_t begin = i++;
    while (i < line.size() && continues_character(line[i])) ++i;
    if (at < column - before || at > column + after) continue;
    const bool printable = static_cast<unsigned char>(line[begin]) >= ' ' && line[begin] != '\x7f';
    shown += printable ? line.substr(begin, i - begin) : " ";
    if (at < column) space += ' ';
  }
  return fmt::format("  {}\n  {}^", shown, space);
}

}  // namespace

SyntaxError::SyntaxError(std::string_view text, Position position, std::string found_there,
                         std::string wanted_instead)
    : Error(Status::invalid_input, fmt::format("line {}, column {}: found {}; wanted {}\n{}", position.line,
                                               position.column, found_there, wanted_instead,
                                               underlined(line_of(text, position.line), position.column))),
      position_(position),
      found_(std::move(found_there)),
      wanted_(std::move(wanted_instead)) {}

}  // namespace spsolve
