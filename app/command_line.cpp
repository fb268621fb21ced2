// SPDX-License-Identifier: Apache-2.0
#include "app/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "app/advice.hpp"
#include "app/bench/bench_suites.hpp"
#include "app/help_text.hpp"
#include "app/inspect/keys.hpp"
#include "app/inspect/new_input.hpp"
#include "app/setup/version.hpp"
#include "io/grid.hpp"
#include "io/input/config.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/shell_word.hpp"
#include "io/text_file.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

template <std::size_t count>
CLI::IsMember one_of(const std::array<std::string_view, count>& names) {
  return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
}

/// Refuses an empty text, which an unset variable of a script gives: it must not pass for a missing option.
std::string not_empty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

/// Refuses a name of another kind of file for a picture, so that no snapshot or input is overwritten by
/// mistake and nobody expects a PDF.
std::string name_of_png(const std::string& text) {
  std::string extension = std::filesystem::path(text).extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  if (extension.empty() || extension == ".png" || is_stream(text)) return "";
  return fmt::format("'{}' ends in '{}'; pictures are PNG files, wanted a name that ends in .png", text,
                     extension);
}

/// This validator has a shorter text than CLI::PositiveNumber, which prints the largest double.
const CLI::Validator positive(
    [](std::string& text) {
      return CLI::PositiveNumber(text).empty() ? "" : fmt::format("'{}' is not a number above 0", text);
    },
    "POSITIVE");

void add_set_option(CLI::App& to, CommandLine& command) {
  to.add_option("--set", command.overrides,
                "Override a key of the input, as section.key=value, or a section, as "
                "'section={key=value}'; may be repeated")
      ->take_all()
      ->allow_extra_args(false)  // INPUT may follow
      ->type_name("KEY=VALUE");
}

void add_run_options(CLI::App& app, CommandLine& command) {
  app.add_option("INPUT", command.file, "Input file (TOML) to solve")->type_name("FILE.toml");
  add_set_option(app, command);
  app.add_option(
         "--restart", command.restart,
         "Continue from the newest undamaged checkpoint of the output directory (without one, from the "
         "beginning), or from this one")
      ->type_name("latest|FILE")
      ->check(not_empty);
  app.add_option("--output", command.output, "Directory for results, instead of output.directory")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_flag("--overwrite", command.overwrite, "Replace the results of another run in that directory");
  app.add_flag("--quiet", command.quiet, "Print warnings and errors only");
}

/// Adds the options that `check` and `plan` share.
void add_problem_options(CLI::App& to, CommandLine& command) {
  to.add_option("INPUT", command.file, "Input file (TOML)")->required()->type_name("FILE.toml");
  add_set_option(to, command);
  to.add_option("--ranks", command.ranks,
                "How many ranks the run will have: their blocks, halos and memory (default: as many as there "
                "are now)")
      ->type_name("N")
      ->check(positive);
}

void add_plan_options(CLI::App& plan, CommandLine& command) {
  add_problem_options(plan, command);
  plan.add_option("--device-model", command.device_model, "Plan for the device that this file describes")
      ->type_name("FILE.toml")
      ->check(not_empty);
  plan.add_option("--calibration", command.calibration,
                  "Plan with the coefficients of this file, as calibration/h200.json has them");
  plan.add_flag("--layouts", command.layouts,
                "Print the search for the tile of the morph layout instead of the plan, tile by tile");
  plan.add_option("--json", command.plan_json,
                  "Write all candidates, and what is left out and why, or with --layouts all tiles, to this "
                  "file, - to standard output, and the table to standard error then")
      ->type_name("FILE")
      ->check(not_empty);
  plan.add_option("--picture", command.plan_picture,
                  "Draw the candidates under the rooflines of their units as a PNG file")
      ->type_name("FILE.png")
      ->check(not_empty)
      ->check(name_of_png);
}

/// Adds the options that say what `bench` measures.
void add_case_options(CLI::App& to, BenchRequest& request) {
  CLI::Option* stencil = to.add_option(
      "--stencil", request.stencil,
      "Benchmark shape, or a stencil of the catalogue (default: star2d1r, in suites all of theirs)");
  CLI::Option* shape = to.add_option("--shape", request.shape,
                                     "Points per axis, slowest first, as N,N,N; --suite gemm takes M,N,K, "
                                     "other suites need --stencil with it")
                           ->delimiter(',')
                           ->check(CLI::Range(std::int64_t{1}, max_points).description("POSITIVE"));
  CLI::Option* boundary =
      to.add_option("--boundary", request.boundary,
                    "periodic (unless a suite says otherwise), dirichlet or neumann, on all faces")
          ->check(one_of(plain_boundary_names));
  CLI::Option* source = to.add_flag("--source", request.source, "Add a source to every point in every step");
  CLI::Option* input =
      to.add_option("--input", request.inputs, "Measure the problems of these inputs, with their events")
          ->type_name("FILE.toml")
          ->excludes(stencil)
          ->excludes(shape)
          ->excludes(boundary)
          ->excludes(source);
  to.add_option("--precision", request.precision,
                "fp64 (unless a suite says otherwise), fp32, tf32, bf16 or fp16")
      ->check(one_of(precision_names))
      ->excludes(input);
  std::string suites = "Measure a named list of cases instead of one; other options select among them:";
  for (const BenchSuite& suite : bench_suites())
    suites.append("\n").append(suite.name).append(": ").append(suite.meaning);
  to.add_option("--suite", request.suite, suites)->excludes(input);
  to.add_option("--seed", request.seed, "Seed of the suite random")->capture_default_str();
  to.add_flag("--list", request.list,
              "List the catalogue and end: stencils with their sources and equations, in units of the grid "
              "spacing and the time step, then systems of equations");
}

/// Adds the options that say how `bench` times cases and where it writes the results.
void add_timing_options(CLI::App& to, BenchRequest& request) {
  to.add_option("--steps", request.steps, "Time steps of one timed run, instead of --seconds")
      ->check(positive);
  to.add_option("--seconds", request.seconds, "Seconds of one timed run (default: 0.3, in suites 0.1)")
      ->check(positive);
  to.add_option("--candidates", request.candidates,
                "Number of the plan's best candidates to measure in every case (default: 1, the chosen one)")
      ->check(positive);
  to.add_option("--shard", request.shard,
                "K N: every N-th case from the K-th on, for several processes side by side")
      ->check(CLI::NonNegativeNumber);
  to.add_flag("--compile-only", request.compile_only,
              "Only compile the kernels of all cases, which the next run then finds in the cache");
  to.add_option("--json", request.json,
                "Write the results to this file, - to standard output, and the table to standard error then")
      ->type_name("FILE");
}

/// Adds the options that say by which device and method `bench` solves a case.
void add_method_options(CLI::App& to, BenchRequest& request) {
  to.add_option("--device", request.device, "auto, cuda or cpu")
      ->capture_default_str()
      ->check(one_of(device_names));
  to.add_option("--unit", request.unit, "auto, scalar, tensor or sparse-tensor")
      ->capture_default_str()
      ->check(one_of(unit_names));
  to.add_option("--layout", request.layout, "Layout of the weights on tensor cores")
      ->capture_default_str()
      ->check(one_of(layout_names));
  to.add_option("--fuse", request.fuse, "Time steps per launch (default: as planned)")
      ->check(CLI::Range(1, 256));
  to.add_option("--transport", request.transport, "auto, peer, nccl or mpi")
      ->capture_default_str()
      ->check(one_of(transport_names));
  to.add_option("--exchange-every", request.exchange_every,
                "Launches that share one exchange of halos (default: auto)")
      ->check(CLI::Range(1, max_exchange_every));
  CLI::Option* tune = to.add_flag("--tune", request.tune,
                                  "Time the plan's best candidates first, and remember the winner (default: "
                                  "on GPUs, without --suite and --candidates)");
  to.add_flag("--no-tune", request.no_tune, "Measure the choice of the model")->excludes(tune);
  to.add_flag("--share-gpus", request.share_gpus, "Several ranks may use one GPU");
  to.add_flag("--no-graphs", request.no_graphs, "Enqueue every launch anew instead of replaying CUDA graphs");
}

void add_bench_options(CLI::App& to, BenchRequest& request) {
  add_case_options(to, request);
  add_timing_options(to, request);
  add_method_options(to, request);
}

/// Holds the options of `plot` as they are written.
struct PlotText {
  std::string plane, colormap;
  std::vector<double> range;
};

void add_plot_options(CLI::App& to, CommandLine& command, PlotText& text) {
  to.add_option(
        "FILE", command.file,
        "Snapshot, checkpoint or probes.h5; or a directory or a .series file, whose last snapshot is drawn")
      ->required();
  to.add_option("--field", command.plot.field, "Field (default: the first); for probes also as group/field")
      ->check(not_empty);
  to.add_option(
        "--plane", text.plane,
        "In 3D: the plane of points nearest to a coordinate, such as z=0.5 (default: the middle one of z)")
      ->type_name("AXIS=NUMBER")
      ->check(not_empty);
  to.add_option("--range", text.range,
                "Values of the first and the last color, or of the ends of the axis of a curve (default: the "
                "least and the largest value)")
      ->type_name("LOW HIGH")
      ->expected(2);
  to.add_option(
        "--colormap", text.colormap,
        "viridis, magma or blue-red, which is diverging and has 0 in its middle (default: viridis; of "
        "probes with values of both signs blue-red)")
      ->check(one_of(colormap_names));
  to.add_option("-o,--output", command.plot.output, "PNG file to write (default: FILE with .png)")
      ->type_name("FILE.png")
      ->check(not_empty)
      ->check(name_of_png);
}

/// Reads the options of `plot`. Throws CLI::ValidationError.
void read_plot_text(const PlotText& text, PlotRequest& request) {
  if (!text.plane.empty()) {
    const auto axis = std::ranges::find(axis_names, text.plane.substr(0, 1));
    const char* const begin = text.plane.c_str() + std::min<std::size_t>(text.plane.size(), 2);
    char* end = nullptr;
    const double at = std::strtod(begin, &end);
    if (axis == axis_names.end() || text.plane.size() < 3 || text.plane[1] != '=' || *end != '\0' ||
        !std::isfinite(at))
      throw CLI::ValidationError(
          fmt::format("--plane is '{}'; wanted an axis and a coordinate, such as z=0.5", text.plane));
    request.plane = ImagePlane{static_cast<int>(axis - axis_names.begin()), at};
  }
  if (!text.range.empty()) {
    request.range = ColorRange{text.range[0], text.range[1]};
    if (!(text.range[0] < text.range[1]))
      throw CLI::ValidationError("--range LOW HIGH: LOW must be below HIGH");
  }
  if (!text.colormap.empty()) request.colormap = parse_colormap(text.colormap);
}

/// Holds the arguments of `keys`.
struct KeysRequest {
  std::string path;
  bool is_table = false;

  std::string text() const { return is_table ? table_of_keys(path) : text_of_keys(path); }
};

CLI::App* add_keys(CLI::App& app, KeysRequest& request) {
  CLI::App* keys = app.add_subcommand(
      "keys",
      "Explain the keys of inputs: type, unit, range, default, meaning and an example of each (without an "
      "argument: of all)");
  keys->add_option("KEY", request.path, "Section, or section.key")->type_name("SECTION[.KEY]");
  keys->add_flag("--markdown", request.is_table, "Print the keys of the section as a table of Markdown");
  return keys;
}

CLI::App* add_new(CLI::App& app, CommandLine& command) {
  CLI::App* begin = app.add_subcommand("new", "Write a commented input to begin with");
  begin->add_option("KIND", command.kind, fmt::format("{}", fmt::join(kinds_of_inputs(), ", ")))
      ->required()
      ->check(CLI::IsMember(kinds_of_inputs()));
  begin->add_option("FILE", command.file, "File to write, - for standard output (default: KIND.toml)")
      ->type_name("FILE.toml")
      ->check(not_empty);
  return begin;
}

/// Checks the options that depend on each other, and completes the command. Throws CLI::ParseError.
void check_command(CommandLine& command) {
  if (command.verb == Verb::run && command.file.empty())
    throw CLI::RequiredError("INPUT.toml, or one of check, plan, bench, info, plot, keys, new, doctor");
  if (command.verb == Verb::new_input && command.file.empty()) command.file = command.kind + ".toml";
  if (command.bench.shard[0] >= command.bench.shard[1])
    throw CLI::ValidationError("--shard K N: K must be below N");
  for (const auto& [option, path] :
       {std::pair("--output", command.output.value_or("")), std::pair("--json", command.bench.json),
        std::pair("--json", command.plan_json), std::pair("--picture", command.plan_picture),
        std::pair("-o", command.plot.output.value_or(""))})
    if (const std::string word = shell_word(path); !word.empty())
      throw CLI::ValidationError(
          fmt::format("{} holds '{}', which the shell has not expanded: write {} {} without quotes", option,
                      word, option, path.string()));
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine command;
  CLI::App app{"Distributed solver for equations on structured grids. Run it alone or under mpirun or srun."};
  app.footer(help_after_options());
  app.set_version_flag("--version", "spsolve " + std::string(version));
  app.require_subcommand(0, 1);

  add_run_options(app, command);
  CLI::App* check = app.add_subcommand(
      "check", "Validate an input and the files it names; print what would be solved, memory and file sizes");
  add_problem_options(*check, command);
  CLI::App* plan = app.add_subcommand("plan", "Print how an input would be solved, and why");
  add_plan_options(*plan, command);
  CLI::App* bench =
      app.add_subcommand("bench", "Measure points x time steps per second and the error of the result");
  add_bench_options(*bench, command.bench);

  CLI::App* info = app.add_subcommand(
      "info", "Say what a snapshot, checkpoint or other HDF5 file holds and whether its checksums hold");
  info->add_option("FILE", command.file, "HDF5 file")->required();
  PlotText plot_text;
  CLI::App* plot = app.add_subcommand(
      "plot",
      "Draw a snapshot, a checkpoint or probes.h5 as a PNG file: a map, a curve, or values over time");
  add_plot_options(*plot, command, plot_text);
  KeysRequest keys_request;
  CLI::App* keys = add_keys(app, keys_request);
  CLI::App* begin = add_new(app, command);
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Print versions, devices, ranks and file systems: what a bug report needs");
  for (CLI::App* verb : {info, plot, keys, begin, doctor}) verb->footer("");  // none takes an input

  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (const auto advice = advice_on_verb(verbs, argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "INPUT.toml"))
    return {std::nullopt, *advice + "Run with --help for more information.\n",
            static_cast<int>(Status::invalid_input)};
  try {
    app.parse(argc, argv);
    command.verb = check->parsed()    ? Verb::check
                   : plan->parsed()   ? Verb::plan
                   : bench->parsed()  ? Verb::bench
                   : info->parsed()   ? Verb::info
                   : plot->parsed()   ? Verb::plot
                   : begin->parsed()  ? Verb::new_input
                   : doctor->parsed() ? Verb::doctor
                                      : Verb::run;
    if (keys->parsed()) return {std::nullopt, keys_request.text(), 0};
    if (command.verb == Verb::plot) read_plot_text(plot_text, command.plot);
    check_command(command);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
      err << advice_on_extras({argv + 1, argv + argc});
    return {std::nullopt, out.str() + err.str(), code == 0 ? 0 : static_cast<int>(Status::invalid_input)};
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("spsolve: error: {}\n", error.what()),
            static_cast<int>(error.status())};
  }
  return {command, "", 0};
}

}  // namespace spsolve
