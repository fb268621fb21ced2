// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/input/keys.hpp"
#include "io/input/toml_document.hpp"

namespace spsolve {

/// Reads one table of a document strictly: a key that was not asked for, or a value of the wrong type or
/// range, is an Error(invalid_input) that says where ("heat3d.toml:12", "--set time.steps=x") and what is
/// wanted. The readers return nothing if the key is absent.
///
/// Every key of an input is looked up in all_keys(), which holds its limits and its choices. Reading a key
/// that is not there is a std::logic_error.
class TomlSection {
 public:
  /// Makes the root of a document that is not an input: its keys are not in all_keys().
  TomlSection(const toml::table& root, std::string file_name) : table_(&root), file_(std::move(file_name)) {}
  /// Returns the root of an input.
  static TomlSection of_input(const toml::table& root, std::string file_name);

  /// Returns a table below this one, or nothing if it is absent.
  std::optional<TomlSection> section(std::string_view key) const;

  /// Returns the tables of a list of tables, [[key]], or an empty list if absent.
  std::vector<TomlSection> sections(std::string_view key) const;

  /// Throws at the first key that the table of keys does not have in this section.
  void allow() const;
  /// Throws at the first key that is not in `valid`, and names the nearest valid key.
  void allow(const std::vector<std::string>& valid) const;
  /// Returns the one of `forms` that is present. Throws unless exactly one is.
  std::string exactly_one_of(const std::vector<std::string>& forms) const;

  const toml::table& table() const { return *table_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const toml::node* find(std::string_view key) const;
  /// Throws if the key is absent.
  const toml::node& require(std::string_view key) const;
  /// Throws if some of the keys are absent, and names all of these.
  void require(std::initializer_list<std::string_view> keys) const;

  std::optional<std::string> text(std::string_view key) const;
  /// Returns true if a key is absent or "auto". Any other string is an error that asks for `otherwise`.
  bool is_auto(std::string_view key, std::string_view otherwise) const;
  /// Returns a list of strings, or one string; the list is empty if the key is absent.
  std::vector<std::string> texts(std::string_view key) const;
  /// Returns one of the choices of the key.
  std::optional<std::string> one_of(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  /// Return a finite number within the limits of the key, or within `otherwise` where no table holds the key.
  std::optional<double> number(std::string_view key, const Limits& otherwise = {}) const;
  std::optional<std::int64_t> integer(std::string_view key, const Limits& otherwise = {}) const;
  /// Returns the finite number that a node below `key` holds.
  double number_of(std::string_view key, const toml::node& node) const;
  /// Return a list of numbers, or one number, within the limits of the key.
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;

  /// Throws Error with "<where>: [section] <message>". <where> is the line of `key` or, if the key is absent,
  /// of the section.
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;
  [[noreturn]] void fail(const toml::node& node, const std::string& message) const;
  /// Returns "<where>: ", the start of a message that names the key itself.
  std::string place_of(std::string_view key) const;
  /// Returns "<where>: [section] ", the start of a message.
  std::string error_prefix(std::string_view key) const;
  /// Returns error_prefix(key) for one line of the text that `key` holds, counted from 1.
  std::string error_prefix(std::string_view key, int line_of_text) const;

 private:
  std::string where(const toml::source_region& region) const;
  const toml::source_region& region_of(std::string_view key) const;
  std::string error_prefix(const toml::source_region& region) const;
  /// Returns the key in the table, or null if this is not an input.
  const Key* known(std::string_view key) const;
  TomlSection below(const toml::table& table, std::string_view key) const;
  double number_within(std::string_view key, const toml::node& node, const Limits& limits) const;
  std::int64_t integer_within(std::string_view key, const toml::node& node, const Limits& limits) const;

  const toml::table* table_;
  std::string file_;
  std::string name_;                         // "boundary.z"; empty for the root
  toml::source_region region_{};             // where the table's own key stands; empty for the root
  std::optional<std::string_view> section_;  // in the table of keys; nothing if this is no input
};

/// Returns "a string", "an integer", ...
std::string_view type_name(const toml::node& node);

}  // namespace spsolve
