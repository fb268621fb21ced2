// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/input/keys.hpp"
#include "io/input/toml_document.hpp"

namespace spsolve {

/// One table of a document, read strictly: whatever it holds that was not asked for, or that has the wrong
/// type or range, is an Error(invalid_input) that says where ("heat3d.toml:12", "--set time.steps=x") and
/// what is wanted. The readers return nothing where the key is absent.
///
/// Every key of an input is looked up in all_keys(), which holds its limits and its choices. To read one that
/// is not there is a std::logic_error.
class TomlSection {
 public:
  /// Makes the root of a document that is no input: its keys are in no table.
  TomlSection(const toml::table& root, std::string file_name) : table_(&root), file_(std::move(file_name)) {}
  /// Returns the root of an input.
  static TomlSection of_input(const toml::table& root, std::string file_name);

  /// Returns a table below this one; nothing if absent.
  std::optional<TomlSection> section(std::string_view key) const;

  /// Returns the tables of a list of tables, [[key]]; empty if absent.
  std::vector<TomlSection> sections(std::string_view key) const;

  /// Throws at the first key that the table of keys does not have in this section.
  void allow() const;
  /// Throws at the first key that is not in `valid`, with the nearest that is.
  void allow(const std::vector<std::string>& valid) const;
  /// Throws unless exactly one of `forms` is there; returns it.
  std::string exactly_one_of(const std::vector<std::string>& forms) const;

  const toml::table& table() const { return *table_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const toml::node* find(std::string_view key) const;
  /// Throws if the key is absent.
  const toml::node& require(std::string_view key) const;

  std::optional<std::string> text(std::string_view key) const;
  /// Returns a list of strings, or one string; empty if the key is absent.
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

  /// Throws Error: "<where>: [section] <message>", where = the line of `key` or, if absent, of the section.
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;
  [[noreturn]] void fail(const toml::node& node, const std::string& message) const;
  /// "<where>: [section] ", to start a message with.
  std::string blame(std::string_view key) const;
  /// Does what blame(key) does for a line of the text that `key` holds, counted from 1.
  std::string blame(std::string_view key, int line_of_text) const;

 private:
  std::string where(const toml::source_region& region) const;
  std::string blame(const toml::source_region& region) const;
  /// Returns the key in the table; null if this is no input.
  const Key* known(std::string_view key) const;
  TomlSection below(const toml::table& table, std::string_view key) const;
  double number_within(std::string_view key, const toml::node& node, const Limits& limits) const;
  std::int64_t integer_within(std::string_view key, const toml::node& node, const Limits& limits) const;

  const toml::table* table_;
  std::string file_;
  std::string name_;                         // "boundary.z"; empty for the root
  toml::source_region region_{};             // of the table's own key; empty for the root
  std::optional<std::string_view> section_;  // in the table of keys; nothing if this is no input
};

/// "a string", "an integer", ...
std::string_view type_name(const toml::node& node);

}  // namespace spsolve
