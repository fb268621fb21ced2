// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/input/images_config.hpp"

namespace spsolve {

/// Names what the program is asked to do.
enum class Verb { run, check, plan, bench, info, plot, new_input, doctor };

/// Describes what `spsolve bench` measures: one case, or a named suite of them.
struct BenchRequest {
  std::string stencil;                  // empty: star2d1r, or all stencils of the suite
  std::vector<std::int64_t> shape;      // slowest axis first; empty: a shape far beyond the caches
  std::optional<std::string> boundary;  // nothing: periodic, or that of the suite
  bool source = false;
  std::vector<std::filesystem::path> inputs;  // their problems instead of a stencil
  int steps = 0;                              // per repeat; 0: the number that takes `seconds`
  std::optional<double> seconds;              // per repeat
  int candidates = 1;                         // number of the plan's candidates to measure
  std::array<int, 2> shard{0, 1};             // cases i with i mod [1] = [0]
  bool compile_only = false;
  std::optional<std::string> precision;  // nothing: fp64, or that of the suite
  std::string device = "auto";
  std::string unit = "auto";
  std::string layout = "auto";
  std::optional<int> fuse;
  bool tune = false, no_tune = false;  // neither: tunes one case and inputs, on GPUs
  std::string transport = "auto";
  std::optional<int> exchange_every;
  bool share_gpus = false, no_graphs = false;  // as parallel.share_gpus and not parallel.graphs
  std::string suite;
  std::uint64_t seed = 1;  // used by the suite "random"
  bool list = false;       // the catalogue of stencils, instead of measuring
  std::filesystem::path json;
};

/// Describes what `spsolve plot` draws of a file.
struct PlotRequest {
  std::optional<std::string> field;             // nothing: the first
  std::optional<ImagePlane> plane;              // nothing: the middle plane of z
  std::optional<ColorRange> range;              // nothing: from the least to the largest value
  std::optional<Colormap> colormap;             // nothing: chosen by the values
  std::optional<std::filesystem::path> output;  // nothing: the name of the file with .png
};

/// Holds the command line, checked as far as possible without files.
struct CommandLine {
  Verb verb = Verb::run;
  std::filesystem::path file;          // input of run, check and plan; file of info, plot and new
  std::string kind;                    // the kind of input that `new` writes
  std::vector<std::string> overrides;  // --set section.key=value
  std::optional<std::string> restart;  // "latest" or a file
  std::optional<std::filesystem::path> output;
  bool overwrite = false;
  bool quiet = false;
  std::optional<int> ranks;                           // check and plan: ranks of the future run
  std::optional<std::filesystem::path> device_model;  // plan: model of the device
  std::optional<std::filesystem::path> calibration;   // plan: coefficients of the model
  bool layouts = false;                               // plan: the layouts of morph instead of the candidates
  std::filesystem::path plan_json, plan_picture;      // plan: files to write, or empty
  BenchRequest bench;
  PlotRequest plot;
};

}  // namespace spsolve
