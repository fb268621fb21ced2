// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "io/language/syntax_error.hpp"

namespace spsolve {

/// Tells what a token is.
enum class TokenKind { number, name, symbol, end_of_statement, end };

/// Is a word of the language; its text is a part of the text that was scanned.
struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t begin;  // byte in the whole text
  Position position;
  double number = 0.0;
};

/// Limits the text that is read, in bytes.
constexpr std::size_t max_text_bytes = 1 << 20;

/// Cuts a text into tokens; the last one is `end`. A ";" ends a statement. If `lines_end_statements`, the end
/// of a line outside of brackets does, too. A comment runs from "#" to the end of its line. Throws
/// SyntaxError at a character that begins no token.
std::vector<Token> scan(std::string_view text, bool lines_end_statements);

}  // namespace spsolve
