// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "halo/communicator.hpp"

namespace spsolve {

/// Returns the kinds of problems for which `spsolve new` has an input.
std::vector<std::string> kinds_of_inputs();

/// Returns a commented input of one of kinds_of_inputs(), which runs without changes.
std::string_view text_of_input(std::string_view kind);

/// Writes an input of a kind to a file, or to standard output if `file` is "-". Throws Error(invalid_input)
/// if there is a file of this name already. Collective.
void write_input(const Communicator& communicator, std::string_view kind, const std::filesystem::path& file);

}  // namespace spsolve
