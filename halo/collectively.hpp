// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <new>

#include "halo/communicator.hpp"
#include "kernels/error.hpp"

namespace spsolve {

/// Throws on every rank if any rank has a `failure` (null: this rank has none). The status and message are
/// those of the lowest such rank. The message names that rank and its machine unless it is rank 0, where most
/// failures occur.
void throw_on_all_ranks(const Communicator& communicator, const Error* failure);

/// Converts a failure of the file system to an Error(file_failure) that names the path.
Error as_error(const std::filesystem::filesystem_error& failure);

/// Runs `work` on every rank. If it throws an Error on any rank, every rank throws the Error of the lowest
/// such rank, so that all ranks leave together with one message. Failures of the file system and lack of
/// memory count as Errors. `work` may communicate only if all ranks fail alike.
template <class Work>
void collectively(const Communicator& communicator, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    throw_on_all_ranks(communicator, &error);
  } catch (const std::filesystem::filesystem_error& failure) {
    const Error error = as_error(failure);
    throw_on_all_ranks(communicator, &error);
  } catch (const std::bad_alloc&) {
    const Error error(Status::device_failure, "out of memory");
    throw_on_all_ranks(communicator, &error);
  }
  throw_on_all_ranks(communicator, nullptr);
}

/// Runs `work` on rank 0 only, so it must not communicate. An Error that it throws is thrown on every rank.
template <class Work>
void on_root(const Communicator& communicator, Work&& work) {
  collectively(communicator, [&] {
    if (communicator.root()) work();
  });
}

}  // namespace spsolve
