// SPDX-License-Identifier: Apache-2.0
#include "io/input/toml_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <regex>

#include "kernels/error.hpp"

namespace spsolve {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(Status::invalid_input, message); }

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// Returns the length of the string that TOML has at the beginning of a text, up to the end of the text if
/// the string is not closed.
std::size_t length_of_string(std::string_view text) {
  const char quote = text.front();
  const std::string triple(3, quote);
  const bool multi_line = text.starts_with(triple);
  const std::string closing = multi_line ? triple : triple.substr(2);
  std::size_t i = closing.size();
  while (i < text.size() && !text.substr(i).starts_with(closing) && (multi_line || text[i] != '\n'))
    i += quote == '"' && text[i] == '\\' ? 2 : 1;
  i += closing.size();
  // A multi-line string may end in up to two quotes of its own.
  for (int own = 0; multi_line && own < 2 && i < text.size() && text[i] == quote; ++own) ++i;
  return std::min(i, text.size());
}

/// Returns the position of the first byte of TOML that is not ASCII, outside of strings and comments, or npos
/// if there is none.
std::size_t find_stray_letter(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (!is_ascii(c)) return i;
    if (c == '#')
      i = std::min(text.find('\n', i), text.size());
    else
      i += c == '"' || c == '\'' ? length_of_string(text.substr(i)) : 1;
  }
  return std::string_view::npos;
}

/// Returns how a message calls the first character of a text, which may look like another one, or like a
/// space.
std::string name_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const auto bytes = static_cast<std::size_t>(std::countl_one(first));
  const std::string_view rest = text.substr(0, bytes).substr(1);
  const bool is_utf_8 = bytes >= 2 && bytes <= 4 && rest.size() == bytes - 1 &&
                        std::ranges::all_of(rest, [](unsigned char c) { return (c & 0xC0U) == 0x80U; });
  if (!is_utf_8) return fmt::format("the byte 0x{:02X}, which is no UTF-8,", first);
  unsigned code = first & (0x7FU >> bytes);
  for (const char c : rest) code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return fmt::format("the character '{}' (U+{:04X})", text.substr(0, bytes), code);
}

/// Parses as toml::parse does, but throws Error.
toml::table parse_document(std::string_view text, const std::string& source, bool has_lines) {
  const auto place = [&](auto line) { return has_lines ? fmt::format("{}:{}", source, line) : source; };
  const auto parse = [&](std::string_view document) {
    try {
      return toml::parse(document, source);
    } catch (const toml::parse_error& error) {
      refuse(fmt::format("{}: {}", place(error.source().begin.line), error.description()));
    }
  };
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const auto line_of = [&](std::size_t at) { return 1 + std::count(text.begin(), text.begin() + at, '\n'); };
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    refuse(place(line_of(zero)) +
           ": a byte of value 0, as in HDF5 files and in text of UTF-16; wanted TOML in UTF-8");
  if (!std::ranges::all_of(text, is_ascii)) {
    if (const std::size_t stray = find_stray_letter(text); stray != std::string_view::npos)
      refuse(fmt::format("{}: {} outside of strings and comments; wanted ASCII there", place(line_of(stray)),
                         name_of_character(text.substr(stray))));
    // If TOML has letters beyond ASCII outside of strings, toml++ (up to 3.4) has undefined behaviour.
    // Strings can be found reliably only in well-formed text, so a copy with an ASCII letter in place of each
    // such letter is parsed first.
    std::string stand_in(text);
    std::replace_if(
        stand_in.begin(), stand_in.end(), [](char c) { return !is_ascii(c); }, 'x');
    parse(stand_in);
  }
  return parse(text);
}

/// Rewrites numbers in the forms of C (.002, -.5, 3., 1.e-3), alone, in lists or in tables, into forms of
/// TOML, which needs digits on both sides of the point.
std::string with_whole_numbers(std::string_view value) {
  static const std::regex no_digit_before(R"((^|[\s,\[=])([+-]?)\.(\d))"),
      no_digit_after(R"((\d)\.(?=$|[\s,\]}eE]))");
  std::string result;
  while (!value.empty()) {
    const bool is_string = value.front() == '"' || value.front() == '\'';
    const std::size_t length =
        is_string ? length_of_string(value) : std::min(value.find_first_of("\"'"), value.size());
    const std::string part(value.substr(0, length));
    result += is_string ? part
                        : std::regex_replace(std::regex_replace(part, no_digit_before, "$1$020.$3"),
                                             no_digit_after, "$1.0");
    value.remove_prefix(length);
  }
  return result;
}

/// Returns what follows the error of a list or a table with words without quotes, which a shell may have
/// taken; empty for others.
std::string advice_on_quotes(std::string_view value) {
  const bool has_words = std::ranges::any_of(value, [](unsigned char c) { return std::isalpha(c); });
  return has_words && value.find_first_of("\"'") == std::string_view::npos
             ? "; texts in lists and tables have quotes, as in --set 'output.fields=[\"u\"]'"
             : "";
}

/// Parses "a.b=value" as the table {a: {b: value}}, as TOML does.
toml::table parse_override(const std::string& text) {
  const std::string source = std::string(override_mark) + text;
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const bool bare = std::ranges::all_of(
      key, [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-' || c == '.'); });
  if (equals == std::string::npos || key.empty() || !bare) refuse(source + ": wanted section.key=value");
  const std::string value = text.substr(equals + 1);
  const auto parsed = [&](const std::string& text_of_value) {
    return parse_document(key + " = " + text_of_value, source, false);
  };
  try {
    return parsed(value);
  } catch (const Error& error) {
    if (const std::string numbers = with_whole_numbers(value); numbers != value) try {
        return parsed(numbers);
      } catch (const Error&) {  // the text holds no numbers
      }
    const std::size_t start = value.find_first_not_of(" \t");
    if (start != std::string::npos && std::string_view("\"'").find(value[start]) != std::string_view::npos)
      throw;
    if (start != std::string::npos && std::string_view("[{").find(value[start]) != std::string_view::npos)
      refuse(error.what() + advice_on_quotes(value));
  }
  return parsed(toml_string(value));
}

void lay_over(toml::table& document, toml::table& change, std::size_t key_parts, const std::string& text);

/// Does for a list of tables what lay_over() does for a table. The first part of the key is the index in the
/// list, from 0 on.
void lay_over_list(toml::array& list, toml::table& change, std::size_t key_parts, const std::string& text) {
  const std::string key(change.begin()->first.str());
  const bool is_number =
      !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t number = is_number ? std::stoul(key) : list.size();
  if (number >= list.size() || !list[number].is_table() || !change.begin()->second.is_table())
    refuse(fmt::format("{}{}: '{}' is no table of the list; wanted a number from 0 to {}", override_mark,
                       text, key, list.size() - 1));
  lay_over(*list[number].as_table(), *change.begin()->second.as_table(), key_parts - 1, text);
}

/// Moves the one value that an override sets by a dotted key into the document.
void lay_over(toml::table& document, toml::table& change, std::size_t key_parts, const std::string& text) {
  if (change.size() != 1) refuse(std::string(override_mark) + text + ": wanted one value");
  const toml::key key = change.begin()->first;
  toml::node& value = change.begin()->second;
  toml::table* const below = document[key].as_table();
  if (key_parts > 1 && below) return lay_over(*below, *value.as_table(), key_parts - 1, text);
  if (toml::array* const list = document[key].as_array(); key_parts > 2 && list && value.is_table())
    return lay_over_list(*list, *value.as_table(), key_parts - 1, text);
  document.erase(key.str());
  document.insert(key, std::move(value));
}

}  // namespace

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      result += c;
  return result + '"';
}

toml::table parse_toml(std::string_view text, const std::string& file_name,
                       const std::vector<std::string>& overrides) {
  toml::table document = parse_document(text, file_name, true);
  for (const std::string& text_of_override : overrides) {
    toml::table change = parse_override(text_of_override);
    const std::string key = text_of_override.substr(0, text_of_override.find('='));
    lay_over(document, change, std::ranges::count(key, '.') + 1, text_of_override);
  }
  return document;
}

}  // namespace spsolve
