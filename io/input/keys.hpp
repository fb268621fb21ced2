// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// Says which numbers a key accepts: min <= value <= max.
struct Limits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool is_open = false;  // min itself is not accepted
};
inline constexpr Limits positive{.min = 0, .is_open = true};

/// Describes a key of an input, as the readers use it and as `spsolve keys` and the guide show it.
struct Key {
  /// `section` is the section that holds the key: "" for the top level; "<name>" stands for any name, as in
  /// "fields.<name>".
  std::string_view section;
  std::string_view name;                           // "<...>" where users choose it
  std::string_view type;                           // the type in TOML, such as "integer" or "list of numbers"
  std::string_view unit;                           // "length", "steps", ...; empty: none
  std::string_view standard;                       // the default: a value of TOML, or words
  std::string_view meaning;                        // one line
  std::string_view example;                        // lines of its section that hold the key
  Limits limits = {};                              // limits of numbers
  std::span<const std::string_view> choices = {};  // allowed texts
  std::string_view below = {};                     // the section that describes the value if it is a table
};

/// Returns all keys of inputs, section by section. A key that is not here cannot be read: TomlSection looks
/// every key up.
const std::vector<Key>& all_keys();
/// Return the parts of all_keys(): keys that describe the problem, and keys of the run and its output.
std::vector<Key> keys_of_problems();
std::vector<Key> keys_of_runs();

/// Returns the names of the keys of a section in the order of the table, without those that users choose.
std::vector<std::string> names_of_keys(std::string_view section);

/// Returns the key `name` of a section, or the key that stands for any name there. Returns nothing if there
/// is none.
const Key* find_key(std::string_view section, std::string_view name);

/// Returns the values that a key accepts, in words: "\"auto\" or >= 1". The text is empty if the type already
/// says it.
std::string range_of(const Key& key);

}  // namespace spsolve
