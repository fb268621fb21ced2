// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// Returns what to type instead of a first argument that is no verb and no file; nothing if it may be one.
/// `input` stands for the input in examples. Without this check a misspelt verb would pass for an input.
std::optional<std::string> advice_on_verb(const std::vector<std::string>& verbs, std::string_view first,
                                          const std::string& input);

/// Returns what to type instead of arguments that nothing takes: keys of the input as options, and options of
/// launchers. Returns an empty text if none is known.
std::string advice_on_extras(const std::vector<std::string>& arguments);

}  // namespace spsolve
