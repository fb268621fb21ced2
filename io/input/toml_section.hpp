// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/input/toml_document.hpp"

namespace spsolve {

/// One table of an input, read strictly: whatever it holds that was not asked for, or that has the wrong type
/// or range, is an Error(invalid_input) that says where ("heat3d.toml:12", "--set time.steps=x") and what is
/// wanted. The readers return nothing where the key is absent.
class TomlSection {
 public:
  /// The root of a document.
  TomlSection(const toml::table& root, std::string file_name) : table_(&root), file_(std::move(file_name)) {}

  /// Returns a table below this one; nothing if absent.
  std::optional<TomlSection> section(std::string_view key) const;

  /// Returns the tables of a list of tables, [[key]]; empty if absent.
  std::vector<TomlSection> sections(std::string_view key) const;

  /// Throws at the first key that is not in `valid`, with the nearest that is.
  void allow(const std::vector<std::string>& valid) const;
  /// Throws unless exactly one of `forms` is there; returns it.
  std::string exactly_one_of(const std::vector<std::string>& forms) const;

  const toml::table& table() const { return *table_; }
  bool has(std::string_view key) const { return table_->contains(key); }
  const toml::node* find(std::string_view key) const { return table_->get(key); }
  /// Throws if the key is absent.
  const toml::node& require(std::string_view key) const;

  std::optional<std::string> text(std::string_view key) const;
  /// Returns a list of strings, or one string; empty if the key is absent.
  std::vector<std::string> texts(std::string_view key) const;
  std::optional<std::string> one_of(std::string_view key, std::span<const std::string_view> names) const;
  std::optional<bool> boolean(std::string_view key) const;
  /// Finite, and above `above`.
  std::optional<double> number(std::string_view key,
                               double above = -std::numeric_limits<double>::infinity()) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                      std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// Returns a node below `key`, finite.
  double number_of(std::string_view key, const toml::node& node) const;
  /// Returns a list of numbers, or one number.
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least,
                                                    std::int64_t most) const;

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
  std::int64_t integer_of(std::string_view key, const toml::node& node, std::int64_t least,
                          std::int64_t most) const;

  const toml::table* table_;
  std::string file_;
  std::string name_;              // "boundary.z"; empty for the root
  toml::source_region region_{};  // of the table's own key; empty for the root
};

/// "a string", "an integer", ...
std::string_view type_name(const toml::node& node);

}  // namespace spsolve
