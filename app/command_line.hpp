// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "app/setup/options.hpp"

namespace spsolve {

/// Holds the command to carry out, or (help, version, a usage error) the text to print and the exit status.
struct ParsedCommandLine {
  std::optional<CommandLine> command;
  std::string text;
  int status = 0;
};

/// Parses the arguments of main(). Errors of usage do not throw; they are part of the result.
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace spsolve
