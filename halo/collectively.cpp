// SPDX-License-Identifier: Apache-2.0
#include "halo/collectively.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "halo/machine.hpp"

namespace spsolve {

Error as_error(const std::filesystem::filesystem_error& failure) {
  return {Status::file_failure, fmt::format("{}: {}", failure.path1().string(), failure.code().message())};
}

void throw_on_all_ranks(const Communicator& communicator, const Error* failure) {
  const int lowest = communicator.all_reduce(failure ? communicator.rank() : communicator.size(), MPI_MIN);
  if (lowest == communicator.size()) return;
  int status = failure ? static_cast<int>(failure->status()) : 0;
  check_mpi(MPI_Bcast(&status, 1, MPI_INT, lowest, communicator.handle()));
  std::string text = failure ? failure->what() : "";
  if (failure && lowest > 0) text += fmt::format(" (rank {} on {})", lowest, host_name());
  text = communicator.broadcast(text, lowest);
  const InputKey own = failure ? failure->key().value_or(InputKey{}) : InputKey{};
  const InputKey key{communicator.broadcast(own.section, lowest), communicator.broadcast(own.name, lowest)};
  throw Error(static_cast<Status>(status), text, key.section.empty() ? std::nullopt : std::optional(key));
}

}  // namespace spsolve
