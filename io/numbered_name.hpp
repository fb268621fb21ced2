// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spsolve {

/// Holds the parts of the name of a file that a run writes at a step: "heat_0000000123.hdf" has the stem
/// "heat", the number 123 and the extension ".hdf". The extension begins at the first point behind the number
/// (".hdf.tmp") and may be empty.
struct NumberedName {
  std::string stem;
  std::int64_t number = 0;
  std::string extension;
};

/// Returns the name with the number in ten digits, which sorts as steps do.
std::string to_text(const NumberedName& name);

/// Returns true for a name of a run's streams and images: letters, digits, '_' and '-'.
bool is_result_name(std::string_view text);

/// Returns the parts of a file name, or nothing if it has no number of ten digits.
std::optional<NumberedName> parse_numbered_name(std::string_view name);

}  // namespace spsolve
