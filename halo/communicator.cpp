// SPDX-License-Identifier: Apache-2.0
#include "halo/communicator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>

namespace spsolve {
namespace {

/// Returns the number of processes that the launcher says it started for this job step, and the environment
/// variable that says so. Returns 1 and an empty name if the launcher says nothing.
std::pair<const char*, int> launched_processes() {
  // For Slurm only the step's own count is used: a batch script runs once whatever SLURM_NTASKS says.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* value = std::getenv(variable)) return {variable, std::atoi(value)};
  return {"", 1};
}

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

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

MpiSession::~MpiSession() { MPI_Finalize(); }

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

void require_launched_ranks(const Communicator& world) {
  const auto [variable, launched] = launched_processes();
  if (launched > 1 && world.size() == 1)
    throw Error(
        Status::invalid_input,
        fmt::format(
            "the launcher started {} processes but MPI sees one: each would solve the whole problem. Use "
            "`srun --mpi=pmix`, or the mpirun of the MPI library that spsolve was built with; in a shell "
            "inside of a job, where this is meant to be one process, `env -u {} spsolve ...`",
            launched, variable));
}

bool is_first_process() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(variable)) return std::atoi(value) == 0;
  return true;
}

bool threads_may_communicate() {
  int provided = 0;
  check_mpi(MPI_Query_thread(&provided));
  return provided == MPI_THREAD_MULTIPLE;
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

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void on_this_machine(const Communicator& communicator,
                     const std::function<void(const Communicator& machine)>& work) {
  MPI_Comm machine = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  work(Communicator(machine));
  check_mpi(MPI_Comm_free(&machine));
}

int ranks_on_this_machine(const Communicator& communicator) {
  int ranks = 0;
  on_this_machine(communicator, [&](const Communicator& machine) { ranks = machine.size(); });
  return ranks;
}

int rank_on_this_machine(const Communicator& communicator) {
  int rank = 0;
  on_this_machine(communicator, [&](const Communicator& machine) { rank = machine.rank(); });
  return rank;
}

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
