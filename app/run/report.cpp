// SPDX-License-Identifier: Apache-2.0
#include "app/run/report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/setup/planning.hpp"
#include "app/setup/version.hpp"
#include "app/setup/versions.hpp"
#include "halo/collectively.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

/// Holds the least and the largest value over the ranks. Made collectively.
struct Spread {
  double min, max;

  Spread(const Communicator& communicator, double value)
      : min(communicator.all_reduce(value, MPI_MIN)), max(communicator.all_reduce(value, MPI_MAX)) {}
  nlohmann::ordered_json json() const { return {{"min", min}, {"max", max}}; }
};

/// Returns the part of run.json that is known at the start of a run. Collective; complete on rank 0.
nlohmann::ordered_json report_of_start(const Communicator& communicator, const Setup& setup,
                                       const std::string& transport, const Schedule& schedule) {
  return {{"name", setup.config.name},
          {"finished", false},
          {"input", to_toml(setup.config)},
          {"weights_checksum", setup.checksum},
          {"value_checksums", setup.values},
          {"plan", nlohmann::ordered_json::parse(to_json(setup.plan))},
          {"ranks", communicator.size()},
          {"rank_grid", setup.decomposition.rank_grid()},
          {"devices", communicator.gather(setup.device.of_rank)},
          {"transport", transport},
          {"threads_per_rank", omp_get_max_threads()},
          {"first_step", schedule.first},
          {"last_step", schedule.last},
          {"versions", library_versions()}};
}

/// Returns what files took and the run waited for, the largest values of all ranks. Collective.
nlohmann::ordered_json report_of_files(const Communicator& communicator, const FileTimes& times,
                                       int files_at_a_time) {
  const auto largest = [&](double seconds) { return communicator.all_reduce(seconds, MPI_MAX); };
  nlohmann::ordered_json parts;
  for (std::size_t part = 0; part < times.parts.size(); ++part)
    parts[std::string(file_part_names[part])] = largest(times.parts[part]) / std::max(times.files, 1);
  return {{"written", times.files},
          {"at_a_time", files_at_a_time},
          {"seconds_waited_during_run", largest(times.waited_during_run)},
          {"seconds_waited_at_end", largest(times.waited_at_end)},
          {"seconds_per_file", parts}};
}

/// Returns a line that says what the run waited for, from a report of files.
std::string text_of_files(const nlohmann::ordered_json& files) {
  std::string parts;
  for (const auto& [part, seconds] : files["seconds_per_file"].items())
    parts += fmt::format("{}{} {:.3f}", parts.empty() ? "" : ", ", part, seconds.get<double>());
  return fmt::format(
      "files: {}, up to {} at a time; the run waited for them {:.3f} s between steps and {:.3f} s at its "
      "end; seconds per file: {}",
      files["written"].get<int>(), files["at_a_time"].get<int>(),
      files["seconds_waited_during_run"].get<double>(), files["seconds_waited_at_end"].get<double>(), parts);
}

}  // namespace

std::filesystem::path report_file(const std::filesystem::path& directory) { return directory / "run.json"; }

std::optional<std::int64_t> finished_step(const std::filesystem::path& file) {
  std::ifstream text(file);
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json["finished"] != true || !json["last_step"].is_number_integer())
    return std::nullopt;
  return json["last_step"].get<std::int64_t>();
}

std::optional<CheckpointHeader> problem_of_report(const std::filesystem::path& file) {
  try {
    const auto json = nlohmann::json::parse(read_text(file));
    return CheckpointHeader{
        .precision = parse_precision(json.at("plan").at("precision").get<std::string>()).value(),
        .input = json.at("input"),
        .plan = {},
        .weights = json.at("weights_checksum"),
        .fields = {},
        .values = json.value("value_checksums", ValueChecksums())};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void begin_report(const Communicator& communicator, const Setup& setup, const std::string& transport,
                  const Schedule& schedule) {
  const auto json = report_of_start(communicator, setup, transport, schedule);
  on_root(communicator, [&] {
    if (schedule.first < schedule.last)
      write_text(report_file(setup.config.output.directory), json.dump(2) + "\n");
  });
}

void report(const Communicator& communicator, const Setup& setup, const std::string& transport,
            const Schedule& schedule, Outcome outcome, const RunTimes& times, const Terminal& terminal) {
  const double seconds = communicator.all_reduce(times.total, MPI_MAX);
  const Spread compute(communicator, times.block.compute), exchange(communicator, times.block.exchange),
      files(communicator, times.files);
  const nlohmann::ordered_json of_files =
      report_of_files(communicator, times.of_files, times.files_at_a_time);

  const std::int64_t steps = schedule.last - schedule.first;
  const double stepping = std::max(seconds - files.min, 1e-9);
  const double rate =
      static_cast<double>(setup.problem.domain.box().points()) * static_cast<double>(steps) / stepping * 1e-9;
  const std::filesystem::path file = report_file(setup.config.output.directory);
  if (steps == 0) {
    terminal.print("nothing left to do: step {} is the last; results in {}", schedule.last,
                   setup.config.output.directory.string());
  } else if (outcome != Outcome::stopped) {
    terminal.print("finished {} in {:.3f} s: {:.4f} GStencil/s (points x steps per second, files excluded)",
                   counted(steps, "step"), seconds, rate);
    terminal.print(
        "seconds per rank, least to most: compute {:.3f}..{:.3f}, exchange {:.3f}..{:.3f}, files "
        "{:.3f}..{:.3f}",
        compute.min, compute.max, exchange.min, exchange.max, files.min, files.max);
    if (times.of_files.files > 0) terminal.print("{}", text_of_files(of_files));
    terminal.print("results in {}", setup.config.output.directory.string());
  }
  nlohmann::ordered_json json = report_of_start(communicator, setup, transport, schedule);
  json.update({{"finished", outcome != Outcome::stopped},
               {"seconds_setup", communicator.all_reduce(times.setup, MPI_MAX)},
               {"seconds", seconds},
               {"seconds_compute", compute.json()},
               {"seconds_exchange", exchange.json()},
               {"seconds_files", files.json()},
               {"files", of_files},
               {"gstencil_per_s", outcome != Outcome::stopped && steps > 0 ? nlohmann::ordered_json(rate)
                                                                           : nlohmann::ordered_json()}});
  on_root(communicator, [&] {
    // The report of the run that took these steps stays.
    if (!(steps == 0 && finished_step(file) == schedule.last)) write_text(file, json.dump(2) + "\n");
  });
}

}  // namespace spsolve
