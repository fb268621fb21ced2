// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "io/input/keys.hpp"
#include "io/nearest_name.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

constexpr std::string_view dataset = "<dataset>";

bool is_list_of_tables(const Key& key) { return key.type == "list of tables"; }

/// Returns the key at the end of a path of names, or null (the top level) if the path is empty.
const Key* key_at(std::string_view path) {
  const Key* key = nullptr;
  std::string_view section, rest = path;
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('.')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (key && is_list_of_tables(*key) && !name.empty() &&
        name.find_first_not_of("0123456789") == std::string::npos)
      continue;  // it is the number of a table, as --set and messages have it
    if (key && key->below.empty())
      throw Error(Status::invalid_input,
                  fmt::format("'{}': the key '{}' has no keys below", path, key->name));
    key = find_key(section, name);
    if (!key) {
      const std::vector<std::string> known = names_of_keys(section);
      throw Error(Status::invalid_input, fmt::format("there is no key '{}'{}{}keys: {}", name,
                                                     section.empty() ? "" : fmt::format(" in '{}'", path),
                                                     did_you_mean(name, known), fmt::join(known, ", ")));
    }
    section = key->below;
  }
  return key;
}

/// Returns the header of a section as inputs write it: [grid], [[outputs]].
std::string title_of(std::string_view section) {
  if (section.empty()) return "";
  if (section == dataset) return "{ file, dataset } ";
  const Key* top = find_key("", section);
  return top && is_list_of_tables(*top) ? fmt::format("[[{}]] ", section) : fmt::format("[{}] ", section);
}

std::string text_of(const Key& key) {
  std::string text = fmt::format("{}{}: {}\n    {}", title_of(key.section), key.name, key.meaning, key.type);
  if (!key.unit.empty()) text += fmt::format("; unit: {}", key.unit);
  if (const std::string range = range_of(key); !range.empty()) text += fmt::format("; range: {}", range);
  return text + fmt::format("; default: {}\n    {}\n", key.standard, key.example);
}

/// Appends the keys of a section and of the sections below it that have not been shown yet.
void add_section(std::string_view section, std::set<std::string_view>& shown, std::string& text) {
  if (section.empty() || !shown.insert(section).second) return;
  text += "\n";
  for (const Key& key : all_keys())
    if (key.section == section) text += text_of(key);
  for (const Key& key : all_keys())
    if (key.section == section && key.below != dataset) add_section(key.below, shown, text);
}

}  // namespace

std::string text_of_keys(std::string_view path) {
  std::set<std::string_view> shown;
  if (const Key* key = key_at(path)) {
    std::string text = text_of(*key);
    add_section(key->below, shown, text);
    return text;
  }
  std::string text;
  for (const Key& key : all_keys())
    if (key.section.empty() && key.below.empty()) text += text_of(key);
  for (const Key& key : all_keys())
    if (key.section.empty()) add_section(key.below, shown, text);
  add_section(dataset, shown, text);
  return text;
}

std::string table_of_keys(std::string_view path) {
  const Key* key = key_at(path);
  const std::string_view section = key ? key->below : "";
  std::string table =
      "| key | meaning | type | unit | range | default |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const Key& row : all_keys()) {
    if (row.section != section) continue;
    std::string range = range_of(row);
    if (!row.choices.empty()) range = fmt::format("`{}`", range);
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, row.meaning, row.type, row.unit,
                         range, row.standard);
  }
  return table;
}

}  // namespace spsolve
