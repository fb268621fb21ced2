// SPDX-License-Identifier: Apache-2.0
#include "app/run/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/machine/directory_text.hpp"
#include "app/setup/clock.hpp"
#include "halo/collectively.hpp"
#include "io/atomic_file.hpp"
#include "io/file_descriptor.hpp"
#include "io/numbered_name.hpp"
#include "io/snapshot.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds patience(5000);  // ranks of a job that was killed may still run
constexpr const char* diagnostics_name = "diagnostics.csv";

/// Names the file by which ranks find out whether they see one directory; a random number follows.
constexpr const char* shared_stem = ".shared";

/// Returns true if a file name is one that a run writes, complete or not.
bool is_result(const std::string& name) {
  std::string_view whole = name;
  if (whole.ends_with(".tmp")) whole.remove_suffix(4);
  if (whole == diagnostics_name || whole == "probes.h5" || whole == "run.json") return true;
  if (const auto series = SnapshotSeries::in_file(whole)) return is_result_name(series->stream());
  const auto parts = parse_numbered_name(whole);
  if (!parts) return false;
  if (parts->stem == shared_stem) return parts->extension.empty();
  return is_result_name(parts->stem) && (parts->extension == ".hdf" || parts->extension == ".png" ||
                                         (parts->stem == "checkpoint" && parts->extension == ".h5"));
}

bool is_snapshot(const fs::path& result) { return result.extension() == ".hdf"; }

/// Returns the step in the name of a result, or -1 if the name has none.
std::int64_t step_of(const fs::path& result) {
  const auto parts = parse_numbered_name(result.filename().string());
  return parts && !parts->extension.empty() ? parts->number : -1;
}

std::vector<fs::path> results_in(const fs::path& directory) {
  std::vector<fs::path> results;
  if (fs::exists(directory))
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
      if (is_result(entry.path().filename())) results.push_back(entry.path());
  return results;
}

/// Removes a result. If it is a link, only its target is removed, because the next file of that name belongs
/// there, too. Devices and pipes stay.
void remove_result(const fs::path& file) {
  if (!is_stream(file)) fs::remove(followed(file));
}

/// Throws if there are results in the directory. Unfinished files of a killed run do not count, nor do links
/// whose targets do not exist yet.
void refuse_results(const fs::path& directory) {
  const std::vector<fs::path> results = results_in(directory);
  const auto whole = std::ranges::count_if(results, [](const fs::path& file) {
    return !file.string().ends_with(temporary_name("").string()) && fs::is_regular_file(file);
  });
  if (whole > 0)
    throw Error(Status::invalid_input, fmt::format("output directory {} holds {} files of another run; use "
                                                   "--restart latest to continue it, --overwrite to "
                                                   "replace it, or another --output",
                                                   directory.string(), whole));
}

/// Throws Error(file_failure) if this process cannot write files to a directory.
void require_writable(const fs::path& directory) {
  if (const std::string why = why_not_writable(directory); !why.empty())
    throw Error(Status::file_failure, fmt::format("output directory {} {}", directory.string(), why));
}

/// Returns the first line of diagnostics.csv, without its end.
std::string diagnostics_columns(const std::vector<std::string>& fields,
                                const std::vector<std::string>& sums) {
  std::string columns = "step,time";
  for (const std::string& field : fields)
    for (const char* const column : {"min", "max", "mean", "l2", "change_l2"})
      columns += fmt::format(",{}{}", column, fields.size() > 1 ? "_" + field : "");
  for (const std::string& sum : sums) columns += "," + sum;
  return columns;
}

}  // namespace

RunDirectory::RunDirectory(const Communicator& communicator, const fs::path& path)
    : communicator_(communicator), path_(path) {
  on_root(communicator_, [&] {
    std::error_code missing;
    if (fs::is_directory(path_, missing)) lock();
  });
}

void RunDirectory::lock() {
  lock_.emplace(path_, FileDescriptor::Mode::read);
  for (const auto begin = Clock::now(); !lock_->lock(); std::this_thread::sleep_for(patience / 100))
    if (Clock::now() - begin > patience)
      throw Error(Status::invalid_input,
                  fmt::format("output directory {}: another run is writing there", path_.string()));
}

void RunDirectory::require_no_results() const {
  on_root(communicator_, [&] { refuse_results(path_); });
}

bool RunDirectory::holds(const fs::path& file) const {
  bool found = false;
  on_root(communicator_, [&] {
    std::error_code missing;
    for (const fs::path& result : results_in(path_)) found = found || fs::equivalent(result, file, missing);
  });
  return communicator_.all_reduce(static_cast<int>(found), MPI_MAX) == 1;
}

bool RunDirectory::holds_snapshots_until(std::int64_t step) const {
  bool found = false;
  on_root(communicator_, [&] {
    for (const fs::path& result : results_in(path_))
      found = found || (is_snapshot(result) && step_of(result) <= step);
  });
  return communicator_.all_reduce(static_cast<int>(found), MPI_MAX) == 1;
}

void RunDirectory::prepare(bool overwrite, std::optional<std::int64_t> continued_from) {
  on_root(communicator_, [&] {
    require_writable(path_);
    fs::create_directories(path_);
    if (!lock_) lock();
    if (!continued_from && !overwrite) refuse_results(path_);
    const std::vector<fs::path> results = results_in(path_);
    if (continued_from)
      for (const fs::path& file : results)
        if (auto series = SnapshotSeries::in_file(file)) series->drop_after(*continued_from);
    for (const fs::path& file : results)
      if (!continued_from || step_of(file) > *continued_from) remove_result(file);
  });
  require_one_directory();
  on_root(communicator_, [&] {
    if (auto pipe = keep_pipe_open(diagnostics_file(path_))) rows_.emplace(std::move(*pipe));
  });
}

void RunDirectory::require_one_directory() const {
  if (communicator_.size() == 1) return;
  fs::path file;
  on_root(communicator_, [&] {
    // No other directory holds a file of this name.
    const std::int64_t ticks = std::chrono::system_clock::now().time_since_epoch().count();
    file = path_ / temporary_name(to_text({shared_stem, (ticks + getpid()) % 10'000'000'000, ""}));
    std::ofstream made(file);
    if (!made) file.clear();  // the failure is reported by the next file that is written there
  });
  const fs::path shared = communicator_.broadcast(file.string());
  if (shared.empty()) return;
  const auto see = [&] {
    std::error_code missing;
    for (const auto begin = Clock::now(); !fs::exists(shared, missing);
         std::this_thread::sleep_for(patience / 100))
      if (Clock::now() - begin > patience)
        throw Error(
            Status::file_failure,
            fmt::format("output directory {} is not the one that rank 0 writes to: all ranks have to see "
                        "one directory, on a file system that their hosts share",
                        path_.string()));
    require_writable(path_);
  };
  const auto remove = [&] {
    std::error_code ignored;
    if (communicator_.root()) fs::remove(shared, ignored);
  };
  try {
    collectively(communicator_, see);
  } catch (...) {
    remove();
    throw;
  }
  remove();
}

fs::path diagnostics_file(const fs::path& directory) { return directory / diagnostics_name; }

bool begin_diagnostics_file(const Communicator& communicator, const fs::path& directory,
                            const std::vector<std::string>& fields, const std::vector<std::string>& sums,
                            std::int64_t step) {
  bool has_row = false;
  on_root(communicator, [&] {
    const fs::path file = diagnostics_file(directory);
    const std::string columns = diagnostics_columns(fields, sums);
    std::string kept = columns + "\n";
    if (fs::exists(file) && !is_stream(file)) {
      std::istringstream lines(read_text(file, std::numeric_limits<std::int64_t>::max()));
      for (std::string line; std::getline(lines, line);) {
        std::int64_t row = 0;
        const auto read = std::from_chars(line.data(), line.data() + line.size(), row);
        // A row that a kill cut short has no last column.
        if (read.ec == std::errc() && row <= step &&
            std::ranges::count(line, ',') == std::ranges::count(columns, ',')) {
          kept += line + "\n";
          has_row = has_row || row == step;
        }
      }
    }
    write_text(file, kept);
  });
  return communicator.all_reduce(int{has_row}, MPI_MAX) != 0;
}

void add_diagnostics_row(const Communicator& communicator, const fs::path& directory, std::int64_t step,
                         double time, const std::vector<Diagnostics>& of_fields,
                         const std::vector<double>& sums) {
  on_root(communicator, [&] {
    std::string row = fmt::format("{},{:.17g}", step, time);
    for (const Diagnostics& field : of_fields)
      row += fmt::format(",{:.17g},{:.17g},{:.17g},{:.17g},{:.17g}", field.min, field.max, field.mean,
                         field.l2, field.change_l2);
    for (const double sum : sums) row += fmt::format(",{:.17g}", sum);
    append_text(diagnostics_file(directory), row + "\n");
  });
}

}  // namespace spsolve
