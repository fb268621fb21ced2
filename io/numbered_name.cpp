// SPDX-License-Identifier: Apache-2.0
#include "io/numbered_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace spsolve {

namespace {
constexpr std::size_t digits = 10;
}

std::string to_text(const NumberedName& name) {
  return fmt::format("{}_{:0{}}{}", name.stem, name.number, digits, name.extension);
}

bool is_result_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-');
  });
}

std::optional<NumberedName> parse_numbered_name(std::string_view name) {
  const std::size_t mark = name.rfind('_');
  if (mark == std::string_view::npos || mark == 0 || name.size() - mark - 1 < digits) return std::nullopt;
  const std::string_view number = name.substr(mark + 1, digits), rest = name.substr(mark + 1 + digits);
  if (!std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  if (!rest.empty() && rest.front() != '.') return std::nullopt;
  NumberedName parts{std::string(name.substr(0, mark)), 0, std::string(rest)};
  std::from_chars(number.data(), number.data() + digits, parts.number);
  return parts;
}

}  // namespace spsolve
