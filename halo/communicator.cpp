// SPDX-License-Identifier: Apache-2.0
#include "halo/communicator.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>

namespace spsolve {
namespace {

template <class Value>
Value reduced(Value value, MPI_Datatype type, MPI_Op operation, MPI_Comm handle) {
  Value result{};
  check_mpi(MPI_Allreduce(&value, &result, 1, type, operation, handle));
  return result;
}

}  // namespace

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

void check_mpi(int code, std::source_location where) {
  if (code == MPI_SUCCESS) return;
  throw Error(Status::device_failure,
              fmt::format("MPI: {} ({}:{})", mpi_text(code), where.file_name(), where.line()));
}

Communicator::Communicator() : Communicator(MPI_COMM_WORLD) {}

Communicator::Communicator(MPI_Comm handle) : handle_(handle) {
  check_mpi(MPI_Comm_rank(handle, &rank_));
  check_mpi(MPI_Comm_size(handle, &size_));
}

void Communicator::barrier() const { check_mpi(MPI_Barrier(handle_)); }

int Communicator::all_reduce(int value, MPI_Op operation) const {
  return reduced(value, MPI_INT, operation, handle_);
}
std::int64_t Communicator::all_reduce(std::int64_t value, MPI_Op operation) const {
  return reduced(value, MPI_INT64_T, operation, handle_);
}
double Communicator::all_reduce(double value, MPI_Op operation) const {
  return reduced(value, MPI_DOUBLE, operation, handle_);
}

std::string Communicator::broadcast(std::string text, int source) const {
  auto size = static_cast<std::int64_t>(text.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, source, handle_));
  if (size > std::numeric_limits<int>::max()) throw Error(Status::invalid_input, "a text of more than 2 GiB");
  text.resize(static_cast<std::size_t>(size));
  check_mpi(MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, source, handle_));
  return text;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(root() ? size_ : 0), begins(lengths.size());
  check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, handle_));
  int total = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) begins[i] = std::exchange(total, total + lengths[i]);
  std::string all(static_cast<std::size_t>(total), '\0');
  check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
                        handle_));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) texts.push_back(all.substr(begins[i], lengths[i]));
  return texts;
}

void Communicator::abort(Status status) const {
  // The main thread and the watchdog may both find that a peer is lost. Open MPI returns from a second
  // MPI_Abort at once, and std::abort would then end the process before the first has told its status.
  static std::mutex aborting;
  aborting.lock();
  MPI_Abort(handle_, static_cast<int>(status));
  std::abort();
}

void Communicator::abort(const Error& error) const {
  std::fprintf(stderr, "spsolve: error: %s\n", error.what());
  abort(error.status());
}

Communicator duplicate(const Communicator& original) {
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(original.handle(), &handle));
  return Communicator(handle);
}

DuplicateCommunicator::~DuplicateCommunicator() {
  MPI_Comm handle = communicator_.handle();
  MPI_Comm_free(&handle);
}

}  // namespace spsolve
