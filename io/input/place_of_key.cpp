// SPDX-License-Identifier: Apache-2.0
#include "io/input/place_of_key.hpp"

#include "io/input/toml_section.hpp"

namespace spsolve {

std::string place_of_key(const InputKey& key, std::string_view text, const std::filesystem::path& file_name,
                         const std::vector<std::string>& overrides) {
  const toml::table document = parse_toml(text, file_name.string(), overrides);
  const auto section = TomlSection::of_input(document, file_name.string()).section(key.section);
  return section ? section->place_of(key.name) : "";
}

}  // namespace spsolve
