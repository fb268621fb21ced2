// SPDX-License-Identifier: Apache-2.0
#include "app/setup/load_input.hpp"

#include <fmt/format.h>

#include "io/atomic_file.hpp"

namespace spsolve {
namespace {

/// Reports and checkpoints hold the resolved input: what cannot be read from there again, such as the path of
/// a file in another encoding than UTF-8, is refused while nothing has been written.
void require_text(const RunConfig& config) {
  try {
    parse_config(to_toml(config), {});
  } catch (const Error& error) {
    throw Error(Status::invalid_input,
                fmt::format("the resolved input{}: names and paths must be UTF-8", error.what()));
  }
}

}  // namespace

RunConfig load_input(const Communicator& communicator, const CommandLine& command) {
  std::string text;
  on_root(communicator, [&] {
    try {
      text = read_text(command.file);
    } catch (const Error& error) {
      throw Error(Status::invalid_input, error.what());
    }
    if (text.empty())
      throw Error(Status::invalid_input,
                  fmt::format("{}: is empty, or no regular file", command.file.string()));
  });
  text = communicator.broadcast(text);
  RunConfig config;
  collectively(communicator, [&] { config = parse_config(text, command.file, command.overrides); });
  if (command.output) config.output.directory = *command.output;
  collectively(communicator, [&] { require_text(config); });
  return config;
}

}  // namespace spsolve
