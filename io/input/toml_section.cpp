// SPDX-License-Identifier: Apache-2.0
#include "io/input/toml_section.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "io/hdf5/fits_double.hpp"
#include "io/nearest_name.hpp"
#include "kernels/error.hpp"

namespace spsolve {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

namespace {

/// Returns the original text that the command line sets a key to, so that --set name=123 can set a text.
/// Returns nothing if the command line sets a table or a list that holds the key.
std::optional<std::string> text_of_override(const toml::source_region& region, std::string_view key) {
  if (!region.path || !region.path->starts_with(override_mark)) return std::nullopt;
  const std::string text = region.path->substr(override_mark.size());
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (path.substr(path.rfind('.') + 1) != key || value.find_first_of("[{") == 0) return std::nullopt;
  return value;
}

/// Returns the value of a key that goes by another name elsewhere (C, numpy, other solvers), or an empty
/// text.
std::string value_here_of(std::string_view foreign, std::span<const std::string_view> choices) {
  constexpr std::array<std::array<std::string_view, 2>, 12> names{{{"gpu", "cuda"},
                                                                   {"nvidia", "cuda"},
                                                                   {"double", "fp64"},
                                                                   {"float64", "fp64"},
                                                                   {"float", "fp32"},
                                                                   {"float32", "fp32"},
                                                                   {"single", "fp32"},
                                                                   {"half", "fp16"},
                                                                   {"float16", "fp16"},
                                                                   {"bfloat16", "bf16"},
                                                                   {"gzip", "deflate"},
                                                                   {"zlib", "deflate"}}};
  for (const auto& [other, own] : names)
    if (other == foreign && std::ranges::find(choices, own) != choices.end())
      return fmt::format("; here it is '{}'; ", own);
  return "";
}

/// Returns the sections that have a key, or an empty text if there are none. The text is also empty if
/// `section` has the key, beside other keys than those that were given.
std::string home_of(std::string_view name, std::string_view section) {
  std::string homes;
  if (find_key(section, name)) return homes;
  for (const Key& key : all_keys())
    if (key.name == name && !key.section.empty() && key.section.find('<') == std::string_view::npos)
      homes += fmt::format("{}[{}]", homes.empty() ? "" : ", ", key.section);
  return homes.empty() ? "" : fmt::format("; it is a key of {}; ", homes);
}

/// Returns what stands where a number was wanted: its type, or a number of the command line that became a
/// text because no type can hold it or TOML does not take it.
std::string found_instead(const toml::node& node, std::string_view key) {
  const std::string written = text_of_override(node.source(), key).value_or("");
  char* end = nullptr;
  const double number = std::strtod(written.c_str(), &end);
  const bool is_number = node.is_string() && end != written.c_str() && *end == '\0' &&
                         written.find_first_of("0123456789") != std::string::npos;
  if (!is_number) return std::string(type_name(node));
  constexpr double limit = 0x1p63;
  return written + (std::abs(number) < limit ? ", which is no number in TOML; leading zeros are one reason"
                                             : ", which is beyond the range of 64 bits");
}

Limits limits_of(const Key* key, const Limits& otherwise) { return key ? key->limits : otherwise; }

}  // namespace

std::string TomlSection::where(const toml::source_region& region) const {
  if (region.path && region.path->starts_with(override_mark)) return *region.path;
  return region.begin ? fmt::format("{}:{}", file_, region.begin.line) : file_;
}

std::string TomlSection::error_prefix(const toml::source_region& region) const {
  return name_.empty() ? where(region) + ": " : fmt::format("{}: [{}] ", where(region), name_);
}

const toml::source_region& TomlSection::region_of(std::string_view key) const {
  const auto found = table_->find(key);
  return found == table_->end() ? region_ : found->first.source();
}

std::string TomlSection::place_of(std::string_view key) const { return where(region_of(key)) + ": "; }
std::string TomlSection::error_prefix(std::string_view key) const { return error_prefix(region_of(key)); }

std::string TomlSection::error_prefix(std::string_view key, int line_of_text) const {
  const toml::node* node = find(key);
  const auto* text = node ? node->as_string() : nullptr;
  if (!text) return error_prefix(key);
  toml::source_region region = node->source();
  // The first line break after """ does not belong to the text.
  const auto breaks = std::ranges::count(text->get(), '\n');
  const bool begins_below = region.end.line - region.begin.line > breaks;
  region.begin.line += static_cast<toml::source_index>(line_of_text - 1 + begins_below);
  return error_prefix(region);
}

void TomlSection::fail(std::string_view key, const std::string& message) const {
  throw Error(Status::invalid_input, error_prefix(key) + message);
}

void TomlSection::fail(const toml::node& node, const std::string& message) const {
  throw Error(Status::invalid_input, error_prefix(node.source()) + message);
}

TomlSection TomlSection::of_input(const toml::table& root, std::string file_name) {
  TomlSection section(root, std::move(file_name));
  section.section_ = "";
  return section;
}

const Key* TomlSection::known(std::string_view key) const {
  if (!section_) return nullptr;
  if (const Key* found = find_key(*section_, key)) return found;
  throw std::logic_error(fmt::format("the table of keys has no '{}' in section '{}'", key, *section_));
}

const toml::node* TomlSection::find(std::string_view key) const {
  known(key);
  return table_->get(key);
}

/// Returns the section of a table that `key` holds, directly or in a list.
TomlSection TomlSection::below(const toml::table& table, std::string_view key) const {
  TomlSection below(table, file_);
  if (const Key* in_table = known(key)) below.section_ = in_table->below;
  return below;
}

std::optional<TomlSection> TomlSection::section(std::string_view key) const {
  known(key);
  const auto found = table_->find(key);
  if (found == table_->end()) return {};
  if (!found->second.is_table())
    fail(key, fmt::format("'{}' must be a table, not {}", key, type_name(found->second)));
  TomlSection inner = below(*found->second.as_table(), key);
  inner.name_ = name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  inner.region_ = found->first.source();
  return inner;
}

std::vector<TomlSection> TomlSection::sections(std::string_view key) const {
  const toml::node* found = find(key);
  if (!found) return {};
  const toml::array* list = found->as_array();
  if (!list || !std::ranges::all_of(*list, [](const toml::node& node) { return node.is_table(); }))
    fail(key, fmt::format("'{}' must be tables, each with the header [[{}]]", key, key));
  std::vector<TomlSection> all;
  for (std::size_t i = 0; i < list->size(); ++i) {
    TomlSection one = below(*(*list)[i].as_table(), key);
    one.name_ = list->size() > 1 ? fmt::format("{}.{}", key, i) : std::string(key);
    one.region_ = (*list)[i].source();
    all.push_back(std::move(one));
  }
  return all;
}

void TomlSection::allow() const { allow(names_of_keys(section_.value())); }

void TomlSection::allow(const std::vector<std::string>& valid) const {
  for (const std::string& key : valid) known(key);
  // Keys are visited in the order of the text, so that the first error reported is the first in the file.
  const toml::key* first = nullptr;
  for (const auto& [key, value] : *table_)
    if (std::find(valid.begin(), valid.end(), key.str()) == valid.end() &&
        (!first || key.source().begin < first->source().begin))
      first = &key;
  if (!first) return;
  std::string advice = did_you_mean(first->str(), valid);
  if (section_ && nearest_name(first->str(), valid).empty())
    if (const std::string home = home_of(first->str(), *section_); !home.empty()) advice = home;
  fail(first->str(),
       fmt::format("unknown key '{}'{}valid keys: {}", first->str(), advice, fmt::join(valid, ", ")));
}

std::string TomlSection::exactly_one_of(const std::vector<std::string>& forms) const {
  std::vector<std::string> given;
  for (const std::string& form : forms)
    if (has(form)) given.push_back(form);
  if (given.empty()) fail("", fmt::format("needs one of: {}", fmt::join(forms, ", ")));
  if (given.size() == 1) return given.front();
  const auto overrides = [&](const std::string& form) {
    return error_prefix(form).starts_with(override_mark);
  };
  const auto changed = std::find_if(given.begin(), given.end(), overrides);
  fail(changed == given.end() ? given.back() : *changed,
       fmt::format("'{}' contradict each other; give exactly one{}", fmt::join(given, "' and '"),
                   changed == given.end()
                       ? ""
                       : fmt::format(", or the section anew: --set '{}={{{} = ...}}'", name_, *changed)));
}

const toml::node& TomlSection::require(std::string_view key) const {
  require({key});
  return *find(key);
}

void TomlSection::require(std::initializer_list<std::string_view> keys) const {
  std::vector<std::string> missing;
  for (const std::string_view key : keys)
    if (!has(key)) missing.push_back(fmt::format("'{}'", key));
  if (!missing.empty())
    fail("", fmt::format("missing key{} {}", missing.size() > 1 ? "s" : "", fmt::join(missing, " and ")));
}

std::optional<std::string> TomlSection::text(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return {};
  const auto written = node->is_string() ? std::nullopt : text_of_override(node->source(), key);
  if (!node->is_string() && !written)
    fail(key, fmt::format("'{}' must be a string, not {}", key, type_name(*node)));
  const std::string value = written ? *written : node->as_string()->get();
  if (value.find('\0') != std::string::npos) fail(key, fmt::format("'{}' holds the character \\u0000", key));
  return value;
}

bool TomlSection::is_auto(std::string_view key, std::string_view otherwise) const {
  if (!has(key)) return true;
  if (!find(key)->is_string()) return false;
  if (*text(key) == "auto") return true;
  fail(key, fmt::format("'{}' is '{}'; wanted \"auto\" or {}", key, *text(key), otherwise));
}

std::vector<std::string> TomlSection::texts(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return {};
  const toml::array* list = node->as_array();
  if (!list) return {*text(key)};
  std::vector<std::string> values;
  for (const toml::node& element : *list) {
    if (!element.is_string())
      fail(element, fmt::format("'{}' must hold strings, not {}", key, type_name(element)));
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::optional<bool> TomlSection::boolean(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  if (const auto* value = node->as_boolean()) return value->get();
  fail(key, fmt::format("'{}' must be true or false, not {}", key, type_name(*node)));
}

std::optional<std::string> TomlSection::one_of(std::string_view key) const {
  auto value = text(key);
  if (!value) return value;
  const auto names = known(key)->choices;
  if (std::find(names.begin(), names.end(), *value) != names.end()) return value;
  std::string advice = value_here_of(*value, names);
  if (advice.empty()) advice = did_you_mean(*value, names);
  fail(key, fmt::format("'{}' is '{}'{}valid values: {}", key, *value, advice, fmt::join(names, ", ")));
}

std::optional<double> TomlSection::number(std::string_view key, const Limits& otherwise) const {
  const toml::node* node = find(key);
  if (!node) return {};
  return number_within(key, *node, limits_of(known(key), otherwise));
}

std::optional<std::int64_t> TomlSection::integer(std::string_view key, const Limits& otherwise) const {
  const toml::node* node = find(key);
  if (!node) return {};
  return integer_within(key, *node, limits_of(known(key), otherwise));
}

std::optional<std::vector<double>> TomlSection::numbers(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return {};
  const Limits limits = limits_of(known(key), {});
  const toml::array* list = node->as_array();
  if (!list) return std::vector{number_within(key, *node, limits)};
  std::vector<double> values;
  for (const toml::node& element : *list) values.push_back(number_within(key, element, limits));
  return values;
}

std::optional<std::vector<std::int64_t>> TomlSection::integers(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return {};
  const Limits limits = limits_of(known(key), {});
  const toml::array* list = node->as_array();
  if (!list) fail(key, fmt::format("'{}' must be a list of integers, not {}", key, type_name(*node)));
  std::vector<std::int64_t> values;
  for (const toml::node& element : *list) values.push_back(integer_within(key, element, limits));
  return values;
}

double TomlSection::number_of(std::string_view key, const toml::node& node) const {
  if (!node.is_number())
    fail(node, fmt::format("'{}' must be a number, not {}", key, found_instead(node, key)));
  const double value =
      node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
  if (!std::isfinite(value)) fail(node, fmt::format("'{}' must be finite, not {}", key, value));
  if (const auto* integer = node.as_integer(); integer && !fits_double(integer->get()))
    fail(node, fmt::format("'{}' is {}, of which fp64 keeps only {:.0f}; write {:.0f} if that is meant", key,
                           integer->get(), value, value));
  return value;
}

double TomlSection::number_within(std::string_view key, const toml::node& node, const Limits& limits) const {
  const double value = number_of(key, node);
  if (limits.is_open && !(value > limits.min))
    fail(node, fmt::format("'{}' must be above {}, not {}", key, limits.min, value));
  if (!(value >= limits.min))
    fail(node, fmt::format("'{}' must be at least {}, not {}", key, limits.min, value));
  if (!(value <= limits.max))
    fail(node, fmt::format("'{}' must be at most {}, not {}", key, limits.max, value));
  return value;
}

std::int64_t TomlSection::integer_within(std::string_view key, const toml::node& node,
                                         const Limits& limits) const {
  if (!node.is_integer())
    fail(node, fmt::format("'{}' must be an integer, not {}", key, found_instead(node, key)));
  const std::int64_t value = node.as_integer()->get();
  if (static_cast<double>(value) < limits.min)
    fail(node, fmt::format("'{}' must be at least {:.0f}, not {}", key, limits.min, value));
  if (static_cast<double>(value) > limits.max)
    fail(node, fmt::format("'{}' must be at most {:.0f}, not {}", key, limits.max, value));
  return value;
}

}  // namespace spsolve
