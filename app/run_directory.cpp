// SPDX-License-Identifier: Apache-2.0
#include "app/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "app/clock.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience(5);  // ranks of a job that was killed may not be gone yet
constexpr const char* diagnostics_name = "diagnostics.csv";
constexpr const char* diagnostics_columns = "step,time,min,max,mean,l2,change_l2\n";

/// Whether a file name is one that a run writes, whole or not.
bool is_result(const std::string& name) {
  static const std::regex names(
      R"((snapshot_\d{10}\.hdf|snapshots\.hdf\.series|checkpoint_\d{10}\.h5|diagnostics\.csv|run\.json)(\.tmp)?)");
  return std::regex_match(name, names);
}

std::vector<fs::path> results_in(const fs::path& directory) {
  std::vector<fs::path> results;
  if (fs::exists(directory))
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
      if (is_result(entry.path().filename())) results.push_back(entry.path());
  return results;
}

/// Runs `work` on rank 0; what the file system says against it is an Error on every rank.
template <class Work>
void on_root(const Communicator& communicator, Work&& work) {
  collectively(communicator, [&] {
    if (!communicator.root()) return;
    try {
      work();
    } catch (const fs::filesystem_error& error) {
      throw Error(Status::file_failure,
                  fmt::format("output directory: {}: {}", error.path1().string(), error.code().message()));
    }
  });
}

/// Throws if there are results in the directory.
void refuse_results(const fs::path& directory) {
  if (const std::size_t files = results_in(directory).size())
    throw Error(Status::invalid_input, fmt::format("output directory {} holds {} files of another run; use "
                                                   "--restart latest to go on with it, --overwrite to "
                                                   "replace it, or another --output",
                                                   directory.string(), files));
}

}  // namespace

void require_no_results(const Communicator& communicator, const fs::path& directory) {
  on_root(communicator, [&] { refuse_results(directory); });
}

void require_not_replaced(const Communicator& communicator, const fs::path& directory, const fs::path& file) {
  on_root(communicator, [&] {
    std::error_code missing;
    for (const fs::path& result : results_in(directory))
      if (fs::equivalent(result, file, missing))
        throw Error(Status::invalid_input,
                    fmt::format("--overwrite would remove {}, which the input reads; use another --output",
                                file.string()));
  });
}

std::optional<FileDescriptor> prepare_run_directory(const Communicator& communicator,
                                                    const fs::path& directory, bool overwrite, bool restart) {
  std::optional<FileDescriptor> lock;
  on_root(communicator, [&] {
    fs::create_directories(directory);
    if (access(directory.c_str(), W_OK | X_OK) != 0)
      throw Error(Status::file_failure,
                  fmt::format("output directory {}: {}", directory.string(), std::strerror(errno)));
    lock.emplace(directory, FileDescriptor::Mode::read);
    for (const auto begin = Clock::now(); !lock->lock(); std::this_thread::sleep_for(patience / 100))
      if (Clock::now() - begin > patience)
        throw Error(Status::invalid_input,
                    fmt::format("output directory {}: another run is writing there", directory.string()));
    if (restart) return;
    if (!overwrite) refuse_results(directory);
    for (const fs::path& file : results_in(directory)) fs::remove(file);
  });
  return lock;
}

void begin_diagnostics_file(const Communicator& communicator, const fs::path& directory, std::int64_t step) {
  on_root(communicator, [&] {
    const fs::path file = directory / diagnostics_name;
    std::string kept = diagnostics_columns;
    if (fs::exists(file)) {
      std::istringstream lines(read_text(file));
      for (std::string line; std::getline(lines, line);) {
        std::int64_t row = 0;
        const auto read = std::from_chars(line.data(), line.data() + line.size(), row);
        // A row that a kill cut short has no last column.
        if (read.ec == std::errc() && row <= step && std::count(line.begin(), line.end(), ',') == 6)
          kept += line + "\n";
      }
    }
    write_text(file, kept);
  });
}

void add_diagnostics_row(const Communicator& communicator, const fs::path& directory, std::int64_t step,
                         double time, const Diagnostics& diagnostics) {
  on_root(communicator, [&] {
    errno = 0;
    std::ofstream file(directory / diagnostics_name, std::ios::app);
    file << fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}\n", step, time, diagnostics.min,
                        diagnostics.max, diagnostics.mean, diagnostics.l2, diagnostics.change_l2);
    file.close();
    if (!file)
      throw Error(Status::file_failure,
                  fmt::format("{}: cannot write: {}", (directory / diagnostics_name).string(),
                              errno ? std::strerror(errno) : "unknown reason"));
  });
}

}  // namespace spsolve
