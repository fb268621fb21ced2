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

/// MPI's own text for an error.
std::string mpi_text(int code);

/// Throws Error(device_failure) naming the call's place and MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::source_location where = std::source_location::current());

/// MPI from construction to destruction, for several threads where the library can; errors are returned to
/// check_mpi() instead of ending the job.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// The ranks that solve one problem together. A handle that is cheap to copy; it does not own the
/// communicator.
class Communicator {
 public:
  /// All ranks of the job.
  Communicator();
  explicit Communicator(MPI_Comm handle);

  MPI_Comm handle() const { return handle_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool root() const { return rank_ == 0; }

  void barrier() const;
  /// The values of all ranks combined by MPI's `operation`, on every rank.
  int all_reduce(int value, MPI_Op operation) const;
  std::int64_t all_reduce(std::int64_t value, MPI_Op operation) const;
  double all_reduce(double value, MPI_Op operation) const;
  /// The text that `source` holds, on every rank.
  std::string broadcast(std::string text, int source = 0) const;
  /// The texts of all ranks, on rank 0 only (empty elsewhere).
  std::vector<std::string> gather(const std::string& text) const;
  /// Ends the job on all ranks; for failures that the other ranks cannot be told of.
  [[noreturn]] void abort(Status status) const;
  /// The same with a message on standard error.
  [[noreturn]] void abort(const Error& error) const;

 private:
  MPI_Comm handle_;
  int rank_ = 0;
  int size_ = 1;
};

/// Throws Error(invalid_input) where the launcher says that it started several processes and MPI sees one:
/// each would solve the whole problem.
void require_launched_ranks(const Communicator& world);

/// Whether this process is the first of those that a launcher started, as far as the environment tells; for
/// what is said without MPI.
bool is_first_process();

/// Whether several threads of each rank may communicate at a time, each by a communicator of its own.
bool threads_may_communicate();

/// The same ranks, whose messages never meet those of the original; the caller frees its handle. Collective.
Communicator duplicate(const Communicator& original);

/// The same, owned: made and destroyed collectively.
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

/// The name of this rank's machine.
std::string host_name();
/// Work of the ranks that share this rank's machine, with one another. Collective.
void on_this_machine(const Communicator& communicator,
                     const std::function<void(const Communicator& machine)>& work);
/// How many ranks share this rank's machine, itself included. Collective.
int ranks_on_this_machine(const Communicator& communicator);
/// This rank's number among them, from 0. Collective.
int rank_on_this_machine(const Communicator& communicator);

/// Throws `failure` (null: none here) on every rank if any rank has one: the status and message of the lowest
/// such rank, with its number and machine where that is not rank 0, which most fail on.
void agree(const Communicator& communicator, const Error* failure);

/// What the file system says, as an Error(file_failure) with the path.
Error as_error(const std::filesystem::filesystem_error& failure);

/// Runs `work` on every rank. If it throws an Error on any of them, every rank throws that of the lowest such
/// rank, so that all ranks leave together with one message; failures of the file system and too little memory
/// count as Errors. `work` may communicate only if all ranks fail alike.
template <class Work>
void collectively(const Communicator& communicator, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    agree(communicator, &error);
  } catch (const std::filesystem::filesystem_error& failure) {
    const Error error = as_error(failure);
    agree(communicator, &error);
  } catch (const std::bad_alloc&) {
    const Error error(Status::device_failure, "out of memory");
    agree(communicator, &error);
  }
  agree(communicator, nullptr);
}

/// The same of rank 0 alone, whose `work` must not communicate: what it throws is thrown on every rank.
template <class Work>
void on_root(const Communicator& communicator, Work&& work) {
  collectively(communicator, [&] {
    if (communicator.root()) work();
  });
}

}  // namespace spsolve
