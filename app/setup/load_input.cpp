// SPDX-License-Identifier: Apache-2.0
#include "app/setup/load_input.hpp"

#include <fmt/format.h>

#include "halo/collectively.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

/// Refuses text that cannot be read back, such as the path of a file in another encoding than UTF-8, before
/// any file is written. Reports and checkpoints hold the resolved input.
void require_text(const RunConfig& config) {
  try {
    parse_config(to_toml(config), {});
  } catch (const Error& error) {
    throw Error(Status::invalid_input,
                fmt::format("the resolved input{}: names and paths must be UTF-8", error.what()));
  }
}

/// Returns the name of an input that comes through a pipe. Messages use it, and so does a run whose input
/// gives no name. Paths in the input start at the current directory.
std::filesystem::path name_of_stream(const std::filesystem::path& stream) {
  return stream == "-" ? std::filesystem::path("stdin") : stream.filename();
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
    if (text.empty()) throw Error(Status::invalid_input, fmt::format("{}: is empty", command.file.string()));
  });
  text = communicator.broadcast(text);
  const bool piped = communicator.all_reduce(static_cast<int>(is_stream(command.file)), MPI_MAX) == 1;
  const std::filesystem::path name = piped ? name_of_stream(command.file) : command.file;
  RunConfig config;
  collectively(communicator, [&] { config = parse_config(text, name, command.overrides); });
  if (command.output) config.output.directory = *command.output;
  collectively(communicator, [&] { require_text(config); });
  return config;
}

}  // namespace spsolve
