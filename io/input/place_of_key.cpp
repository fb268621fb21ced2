// SPDX-License-Identifier: Apache-2.0
#include "io/input/place_of_key.hpp"

#include <regex>

#include "io/input/keys.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

std::string with_place_of_key(const std::string& message, std::string_view text,
                              const std::filesystem::path& file_name,
                              const std::vector<std::string>& overrides) {
  static const std::regex form(R"(\[(\w+)\] (\w+))");
  std::smatch found;
  if (!std::regex_search(message, found, form, std::regex_constants::match_continuous)) return message;
  const std::string name = found[1], key = found[2];
  if (!find_key("", name) || !find_key(name, key)) return message;
  const toml::table document = parse_toml(text, file_name.string(), overrides);
  const auto section = TomlSection::of_input(document, file_name.string()).section(name);
  if (!section) return message;
  return section->error_prefix(key) + message.substr(name.size() + 3);  // "[section] " is part of both
}

}  // namespace spsolve
