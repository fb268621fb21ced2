// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace spsolve {

/// Lists the exit statuses of the executable. Every Error carries the status that it ends the run with.
enum class Status : int {
  finished = 0,
  invalid_input = 2,   // command line, TOML, dataset
  diverged = 3,        // the solution became NaN or infinite
  file_failure = 4,    // a file could not be read or written
  device_failure = 5,  // a device or a peer failed
  stopped = 75,        // a checkpoint was written; start again with --restart latest
};

/// Names a key of the input: {"time", "fuse"}.
struct InputKey {
  std::string section, name;

  std::string text() const { return std::string("[").append(section).append("] ").append(name); }
};

/// Carries a message, a sentence that names the file, key, dataset or device and what was wanted.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message, std::optional<InputKey> key = {})
      : std::runtime_error(message), status_(status), key_(std::move(key)) {}
  /// Makes an Error(invalid_input) about a key, which begins the message: "[time] fuse" and then `rest`. Only
  /// code that has the text of the input can add the line of the key (io/input/place_of_key.hpp).
  Error(const InputKey& key, const std::string& rest)
      : Error(Status::invalid_input, key.text() + rest, key) {}

  Status status() const { return status_; }
  /// Returns the key of the input that the message is about, if its line is not part of the message.
  const std::optional<InputKey>& key() const { return key_; }

 private:
  Status status_;
  std::optional<InputKey> key_;
};

}  // namespace spsolve
