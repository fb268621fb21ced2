// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "io/language/syntax_error.hpp"

namespace spsolve {

/// A word of the language: its text is a part of the text that was scanned.
struct Token {
  enum class Kind { number, name, symbol, end_of_statement, end };
  Kind kind;
  std::string_view text;
  std::size_t begin;  // byte in the whole text
  Position position;
  double number = 0.0;
};

/// The longest text that is read, in bytes.
constexpr std::size_t longest_text = 1 << 20;

/// Cuts a text into tokens; the last one is `end`. Where `lines_end_statements`, a line that ends outside of
/// brackets ends a statement, as ";" does everywhere; a comment runs from "#" to the end of its line. Throws
/// SyntaxError where a character begins no token.
std::vector<Token> scan(std::string_view text, bool lines_end_statements);

}  // namespace spsolve
