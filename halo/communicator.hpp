// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/error.hpp"

namespace spsolve {

/// Returns MPI's text for an error code.
std::string mpi_text(int code);

/// Throws Error(device_failure) with the place of the call and MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, std::source_location where = std::source_location::current());

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
  /// Returns the values of all ranks, in their order, on every rank.
  template <class Value>
  std::vector<Value> all_gather(const Value& value) const {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value> &&
                  !std::is_same_v<Value, bool>);
    std::vector<Value> values(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&value, sizeof value, MPI_BYTE, values.data(), sizeof value, MPI_BYTE, handle_));
    return values;
  }
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

}  // namespace spsolve
