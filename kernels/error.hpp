// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

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

/// Carries a message, a sentence that names the file, key, dataset or device and what was wanted.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

}  // namespace spsolve
