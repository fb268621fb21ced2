// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_fields.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/nearest_name.hpp"

namespace spsolve {

std::string known_field(const TomlSection& section, const char* key, const std::string& name,
                        const std::vector<std::string>& fields) {
  if (std::ranges::find(fields, name) == fields.end())
    section.fail(key, fmt::format("there is no field '{}'{}fields: {}", name, did_you_mean(name, fields),
                                  fmt::join(fields, ", ")));
  return name;
}

std::vector<std::string> read_fields(const TomlSection& section, const std::vector<std::string>& known) {
  if (!section.has("fields")) return {};
  const std::vector<std::string> named = section.texts("fields");
  if (named.empty()) section.fail("fields", "'fields' is empty; leave it out for all fields");
  for (const std::string& name : named) {
    known_field(section, "fields", name, known);
    if (std::ranges::count(named, name) > 1)
      section.fail("fields", fmt::format("'fields' holds '{}' twice", name));
  }
  if (named.size() == known.size()) return {};
  std::vector<std::string> fields;
  std::ranges::copy_if(known, std::back_inserter(fields), [&](const std::string& name) {
    return std::ranges::find(named, name) != named.end();
  });
  return fields;
}

}  // namespace spsolve
