// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <new>
#include <source_location>
#include <string>
#include <vector>

#include "kernels/error.hpp"

namespace spsolve {

/// Returns MPI's text for an error code.
std::string mpi_text(int code);

/// Throws Error(device_failure) with the place of the call and MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::source_location where = std::source_location::current());

/// Runs MPI from construction to destruction, with support for several threads if the library has it. Errors
/// are returned to check_mpi() instead of ending the job.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// Represents the ranks that solve one problem together. This is a handle that is cheap to copy; it does not
/// own the communicator.
class Communicator {
 public:
  /// Holds all ranks of the job.
  Communicator();
  explicit Communicator(MPI_Comm handle);

  MPI_Comm handle() const { return handle_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool root() const { return rank_ == 0; }

  void barrier() const;
  /// Combines the values of all ranks by MPI's `operation` and returns the result on every rank.
  int all_reduce(int value, MPI_Op operation) const;
  std::int64_t all_reduce(std::int64_t value, MPI_Op operation) const;
  double all_reduce(double value, MPI_Op operation) const;
  /// Returns the text of rank `source` on every rank.
  std::string broadcast(std::string text, int source = 0) const;
  /// Returns the texts of all ranks on rank 0; the result is empty elsewhere.
  std::vector<std::string> gather(const std::string& text) const;
  /// Ends the job on all ranks. Use it for failures that cannot be communicated to the other ranks.
  [[noreturn]] void abort(Status status) const;
  /// Prints the error to standard error and ends the job on all ranks.
  [[noreturn]] void abort(const Error& error) const;

 private:
  MPI_Comm handle_;
  int rank_ = 0;
  int size_ = 1;
};

/// Throws Error(invalid_input) if the launcher says that it started several processes but MPI sees only one:
/// each process would solve the whole problem.
void require_launched_ranks(const Communicator& world);

/// Returns true if this process is the first one that a launcher started, as far as the environment tells.
/// Decides who prints messages without MPI.
bool is_first_process();

/// Returns true if several threads of each rank may communicate concurrently, each on its own communicator.
bool threads_may_communicate();

/// Returns a communicator of the same ranks whose messages never match those of the original. The caller
/// frees its handle. Collective.
Communicator duplicate(const Communicator& original);

/// Holds a duplicate() and owns its handle. Construction and destruction are collective.
class DuplicateCommunicator {
 public:
  explicit DuplicateCommunicator(const Communicator& original) : communicator_(duplicate(original)) {}
  ~DuplicateCommunicator();
  DuplicateCommunicator(const DuplicateCommunicator&) = delete;
  DuplicateCommunicator& operator=(const DuplicateCommunicator&) = delete;
  const Communicator& get() const { return communicator_; }

 private:
  Communicator communicator_;
};

/// Returns the name of this rank's machine.
std::string host_name();
/// Calls `work` with a communicator of the ranks that share this rank's machine. Collective.
void on_this_machine(const Communicator& communicator,
                     const std::function<void(const Communicator& machine)>& work);
/// Returns the number of ranks that share this rank's machine, including this one. Collective.
int ranks_on_this_machine(const Communicator& communicator);
/// Returns this rank's number among the ranks of its machine, from 0. Collective.
int rank_on_this_machine(const Communicator& communicator);

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
