// SPDX-License-Identifier: Apache-2.0
#include "io/input/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace spsolve {
namespace {

bool is_any_name(std::string_view name) { return name.starts_with('<'); }

/// Returns "1 to 64", "> 0" and so on, or an empty text if all numbers are accepted.
std::string numbers_in(const Limits& limits) {
  constexpr double beyond_use = 2147483647;  // a larger maximum only reflects the implementation
  if (std::isinf(limits.min)) return "";
  if (limits.max < beyond_use) return fmt::format("{:g} to {:g}", limits.min, limits.max);
  return fmt::format("{} {:g}", limits.is_open ? ">" : ">=", limits.min);
}

}  // namespace

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all = keys_of_problems();
    const std::vector<Key> rest = keys_of_runs();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }();
  return keys;
}

std::vector<std::string> names_of_keys(std::string_view section) {
  std::vector<std::string> names;
  for (const Key& key : all_keys())
    if (key.section == section && !is_any_name(key.name)) names.emplace_back(key.name);
  return names;
}

const Key* find_key(std::string_view section, std::string_view name) {
  const Key* any = nullptr;
  for (const Key& key : all_keys()) {
    if (key.section != section) continue;
    if (key.name == name) return &key;
    if (is_any_name(key.name)) any = &key;
  }
  return any;
}

std::string range_of(const Key& key) {
  std::vector<std::string> texts;
  for (const std::string_view choice : key.choices) texts.push_back(fmt::format("\"{}\"", choice));
  if (const std::string numbers = numbers_in(key.limits); !numbers.empty()) texts.push_back(numbers);
  if (key.type == "boolean") return "true, false";
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace spsolve
