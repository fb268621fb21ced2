// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "app/bench/bench.hpp"
#include "app/command_line.hpp"
#include "app/inspect/inspect.hpp"
#include "app/inspect/new_input.hpp"
#include "app/machine/host_memory.hpp"
#include "app/plot/plot.hpp"
#include "app/run/cores.hpp"
#include "app/run/run.hpp"
#include "halo/mpi_session.hpp"
#include "io/input/place_of_key.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

/// Returns true if a verb needs all ranks that were launched. Other verbs start without the settings of MPI
/// in the shell.
bool needs_ranks(Verb verb) { return verb == Verb::run || verb == Verb::bench; }

/// Returns true if a verb computes values of the grid: check does for initial values, and plan for
/// coefficients.
bool needs_threads(Verb verb) { return needs_ranks(verb) || verb == Verb::check || verb == Verb::plan; }

/// Throws Error(file_failure) if a part of what was printed is lost. Only a run goes on without it.
void require_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error(Status::file_failure, "standard output: a part of the text cannot be written");
}

Status perform(const CommandLine& command, const Communicator& communicator, Signals& signals) {
  if (command.verb != Verb::run) signals.release();
  if (needs_threads(command.verb)) start_threads();
  if (needs_ranks(command.verb)) require_launched_ranks(communicator);
  switch (command.verb) {
    case Verb::run:
      return run(communicator, command, signals);
    case Verb::check:
      return check(communicator, command);
    case Verb::plan:
      return show_plan(communicator, command);
    case Verb::bench:
      return bench(communicator, command.bench);
    case Verb::info:
      return info(communicator, command);
    case Verb::plot:
      return plot(communicator, command);
    case Verb::new_input:
      write_input(communicator, command.kind, command.file);
      return Status::finished;
    case Verb::doctor:
      return doctor(communicator);
  }
  return Status::invalid_input;
}

/// Returns the message of an error, with the place in the input of the key that it is about. An input that
/// came through a pipe cannot be read again, so the message names no place.
std::string placed(const Error& error, const CommandLine& command) try {
  const bool reads_input =
      command.verb == Verb::run || command.verb == Verb::check || command.verb == Verb::plan;
  if (!error.key() || !reads_input || is_stream(command.file)) return error.what();
  return place_of_key(*error.key(), read_text(command.file), command.file, command.overrides) + error.what();
} catch (const std::exception&) {  // the input has changed since
  return error.what();
}

/// Returns the message of an exception of the standard library; the library only has a code for failures that
/// limits of the system cause.
std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "out of memory";
  const auto* failure = dynamic_cast<const std::system_error*>(&error);
  if (failure && failure->code() == std::errc::resource_unavailable_try_again)
    return "cannot start a thread: a limit on memory (ulimit -v) or on processes (ulimit -u, or that of the "
           "job) is too low";
  return error.what();
}

/// Puts a file that can be neither read nor written where the shell has closed a standard stream. Otherwise
/// the next file that a library opens takes its number, and `-` may be a pipe inside of MPI.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)  // open() takes the lowest number that is free
      ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int spsolve_main(int argc, char** argv) {
  occupy_closed_streams();
  // HDF5 opens files without locks (io/hdf5/hdf5.cpp); some versions obey the environment instead.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  if (!parsed.command && parsed.status == 0) {  // help must work even if MPI cannot start
    if (is_first_process()) std::fputs(parsed.text.c_str(), stdout);
    require_printed();
    return 0;
  }
  if (!parsed.command || !needs_ranks(parsed.command->verb)) forget_mpi_settings_without_launcher();
  heed_limits_of_shell();
  if (parsed.command && parsed.command->verb == Verb::run) leave_processor_time_for_checkpoint();
  Signals signals;  // before MPI starts threads, so that they leave these signals to us
  const MpiSession mpi(argc, argv);
  const Communicator world;
  try {
    share_cores(world);
    if (world.root()) std::fputs(parsed.text.c_str(), parsed.status == 0 ? stdout : stderr);
    if (!parsed.command) return parsed.status;
    const Status status = perform(*parsed.command, world, signals);
    if (parsed.command->verb != Verb::run) require_printed();
    return static_cast<int>(status);
  } catch (const Error& error) {
    // Only one rank may know of a failure of a device or a peer: that rank reports it and aborts the others.
    const bool alone = error.status() == Status::device_failure;
    if (alone && world.size() > 1) world.abort(error);
    if (world.root()) {
      const std::string message = parsed.command ? placed(error, *parsed.command) : error.what();
      std::fprintf(stderr, "spsolve: error: %s\n", message.c_str());
    }
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spsolve: error on rank %d: %s\n", world.rank(), reason_of(error).c_str());
    const bool of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr;
    world.abort(of_files ? Status::file_failure : Status::device_failure);
  }
}

}  // namespace
}  // namespace spsolve

int main(int argc, char** argv) {
  try {
    return spsolve::spsolve_main(argc, argv);
  } catch (const spsolve::Error& error) {
    // The launcher ends the others once the first has failed; one that remains has a reason of its own.
    if (!spsolve::is_first_process()) sleep(2);
    std::fprintf(stderr, "spsolve: error: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}
