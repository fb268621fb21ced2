// SPDX-License-Identifier: Apache-2.0
#include "io/language/scanner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace spsolve {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool continues_name(char c) { return begins_name(c) || is_digit(c); }

// Symbols of two characters come first, because the longest symbol counts. The last row is not in the
// language; the parser says what to write instead.
constexpr std::array<std::string_view, 35> symbols{
    "<=", ">=", "==", "!=", "&&", "||", "**", "<>", "//", "=<", "=>",                                //
    "+",  "-",  "*",  "/",  "^",  "<",  ">",  "?",  ":",  "(",  ")",  "[", "]", ",", ".", "=", "{",  //
    "}",  "!",  "%",  "&",  "|",  "~",  "@"};

class Scanner {
 public:
  Scanner(std::string_view text, bool lines_end_statements)
      : text_(text), brackets_(lines_end_statements ? 0 : 1) {}

  std::vector<Token> all() {
    if (text_.size() > max_text_bytes)
      throw SyntaxError("", {}, fmt::format("a text of {} bytes", text_.size()),
                        fmt::format("at most {}", max_text_bytes));
    while (skip_space(), at_ < text_.size()) next();
    add(TokenKind::end, 0);
    return std::move(tokens_);
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#')
        advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && brackets_ > 0))
        advance(1);
      else
        return;
    }
  }

  void next() {
    const char c = text_[at_];
    const bool point = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (c == '\n' || c == ';') return add(TokenKind::end_of_statement, 1);
    if (is_digit(c) || point) return number();
    if (begins_name(c)) {
      std::size_t length = 1;
      while (at_ + length < text_.size() && continues_name(text_[at_ + length])) ++length;
      return add(TokenKind::name, length);
    }
    for (const std::string_view symbol : symbols)
      if (text_.substr(at_, symbol.size()) == symbol) {
        if (c == '(' || c == '[') ++brackets_;
        if (c == ')' || c == ']') brackets_ = std::max(brackets_ - 1, 0);
        return add(TokenKind::symbol, symbol.size());
      }
    refuse_character();
  }

  void number() {
    double value = 0.0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const auto length = static_cast<std::size_t>(end - begin);
    if (error != std::errc{})
      throw SyntaxError(text_, position_,
                        fmt::format("the number {}", text_.substr(at_, std::min<std::size_t>(length, 40))),
                        "a number that double precision can hold");
    add(TokenKind::number, length);
    tokens_.back().number = value;
  }

  [[noreturn]] void refuse_character() const {
    std::size_t length = 1;
    while (at_ + length < text_.size() && (static_cast<unsigned char>(text_[at_ + length]) & 0xC0) == 0x80)
      ++length;
    const auto c = static_cast<unsigned char>(text_[at_]);
    std::string wanted = "a name, a number, an operator or a bracket";
    if (c >= 0x80) wanted += "; names have the letters a to z and A to Z, digits and '_'";
    constexpr std::array<std::array<std::string_view, 2>, 16> written{
        {{"\u00b2", "'^2'"},
         {"\u00b3", "'^3'"},
         {"\u03c0", "'pi'"},
         {"\u00d7", "'*'"},
         {"\u00b7", "'*'"},
         {"\u00f7", "'/'"},
         {"\u2212", "'-'"},
         {"\u2264", "'<='"},
         {"\u2265", "'>='"},
         {"\u2260", "'!='"},
         {"\u221a", "'sqrt(x)'"},
         {"\u00bd", "'0.5'"},
         {"\u2202", "'d(e, x)'"},
         {"\u2207", "'laplace(e)', or 'd(e, x)' for each axis"},
         {"\u2206", "'laplace(e)'"},
         {"\u0394", "'laplace(e)'"}}};
    for (const auto& [sign, own] : written)
      if (text_.substr(at_, length) == sign) wanted = own;
    throw SyntaxError(text_, position_,
                      c < ' ' || c == 0x7f ? fmt::format("the byte 0x{:02x}", c)
                                           : fmt::format("the character '{}'", text_.substr(at_, length)),
                      wanted);
  }

  void add(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), at_, position_});
    advance(length);
  }

  void advance(std::size_t length) {
    for (; length > 0; --length, ++at_) {
      if (text_[at_] == '\n')
        ++position_.line, position_.column = 1;
      else if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80)
        ++position_.column;
    }
  }

  std::string_view text_;
  int brackets_;  // open ones
  std::size_t at_ = 0;
  Position position_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> scan(std::string_view text, bool lines_end_statements) {
  return Scanner(text, lines_end_statements).all();
}

}  // namespace spsolve
