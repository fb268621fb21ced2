// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/inspect.hpp"
#include "app/setup/terminal.hpp"
#include "io/file_info.hpp"

namespace spsolve {

Status info(const Communicator& communicator, const CommandLine& command) {
  const Terminal terminal(communicator, false);
  const FileInfo file = describe_file(communicator, command.file);
  terminal.print("{}", file.text);
  return file.valid ? Status::finished : Status::file_failure;
}

}  // namespace spsolve
