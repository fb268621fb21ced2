// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/array_format.hpp"
#include "io/field_form.hpp"
#include "io/grid.hpp"
#include "io/input/equations_config.hpp"
#include "io/input/images_config.hpp"
#include "io/input/points_config.hpp"
#include "io/language/row_compiler.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"
#include "kernels/unit_kind.hpp"

namespace spsolve {

/// Holds the section [time].
struct TimeConfig {
  std::int64_t steps = 0;   // `end` is resolved to the fewest steps that reach it
  double dt = 1.0;          // the step of the preset, or the time that a step of other weights takes
  std::optional<int> fuse;  // steps per launch; nothing: auto
  std::optional<double> wall_limit_minutes;  // stop with a checkpoint before it
  /// The run ends when, at diagnostics, the change of every field in a step is below this share of its norm.
  std::optional<double> until_change = {};

  friend bool operator==(const TimeConfig&, const TimeConfig&) = default;
};

/// Holds the section [compute].
struct ComputeConfig {
  std::string device = "auto";  // one of device_names
  Precision precision = Precision::fp64;
  std::optional<UnitKind> unit = {};  // nothing: auto
  std::optional<Layout> layout = {};  // nothing: auto
  /// Is the accepted relative L2 error per step: the plan may choose any precision that keeps it; `precision`
  /// is the finest.
  std::optional<double> accuracy = {};
  /// Is true if the plan's best candidates are timed and the fastest is taken. Nothing means auto, which
  /// times on GPUs if timing takes a small part of the run.
  std::optional<bool> tune = {};

  friend bool operator==(const ComputeConfig&, const ComputeConfig&) = default;
};

/// Limits the launches that may share an exchange of halos.
constexpr int max_exchange_every = 64;
/// Limits the steps: names of files hold ten digits of the step.
constexpr std::int64_t max_steps = 9'999'999'999;
/// Limits the steps per launch. The limit is far beyond useful depths, and the bytes of the halos can still
/// be counted.
constexpr int max_fused = 4096;

/// Holds the section [parallel].
struct ParallelConfig {
  std::optional<Index3> ranks;        // per axis, absent axes 1; nothing: auto
  std::string transport = "auto";     // one of transport_names
  std::optional<int> exchange_every;  // launches, 1 to max_exchange_every; nothing: auto
  bool share_gpus = false;      // several ranks may use one GPU (to try things out; slower than one rank)
  bool graphs = true;           // launches on GPUs are captured in CUDA graphs where they can be
  double timeout_seconds = 30;  // the job ends after this time without a sign of life of a rank

  friend bool operator==(const ParallelConfig&, const ParallelConfig&) = default;
};

/// Holds the section [output].
struct OutputConfig {
  std::filesystem::path directory;        // default out/<name>
  std::int64_t every = 0;                 // steps between snapshots; 0 = only the last
  Precision precision = Precision::fp64;  // fp64 or fp32; default fp64 for fp64 runs, else fp32
  std::int64_t stride = 1;                // snapshots keep the points whose indices are multiples of it
  std::optional<bool> background = {};    // files are written during the run; nothing: auto, on GPUs
  std::vector<std::string> fields = {};   // fields that snapshots hold; empty: all
  Compression compression = Compression::none;

  friend bool operator==(const OutputConfig&, const OutputConfig&) = default;
};

/// Describes a stream of snapshots besides that of [output]: a table of [[outputs]]. Its files are
/// <name>_<step>.hdf.
struct OutputStreamConfig {
  std::string name;
  std::vector<std::string> fields;  // empty: all
  std::int64_t every = 0;           // steps between files; 0 = by time, or only the last
  std::optional<double> every_time;
  std::array<std::optional<std::array<double, 2>>, 3> region;  // {z, y, x}: coordinates [first, last]
  std::int64_t stride = 1;                                     // as OutputConfig
  Precision precision = Precision::fp64;                       // as OutputConfig
  Compression compression = Compression::none;

  friend bool operator==(const OutputStreamConfig&, const OutputStreamConfig&) = default;
};

/// Holds the section [diagnostics].
struct DiagnosticsConfig {
  std::int64_t every = 0;  // steps between rows; 0 = only the first and the last
  /// Names further columns: sums over all points of a formula of fields, coefficients, coordinates, t, dt,
  /// step and constants.
  std::map<std::string, std::string> sums = {};

  friend bool operator==(const DiagnosticsConfig&, const DiagnosticsConfig&) = default;
};

/// Holds the section [checkpoint].
struct CheckpointConfig {
  std::int64_t every = 0;         // steps between checkpoints; 0 = not by steps
  std::optional<double> minutes;  // wall time between checkpoints; nothing: not by time
  int keep = 2;                   // newest files that stay
  bool final = false;             // also a checkpoint of the last step

  friend bool operator==(const CheckpointConfig&, const CheckpointConfig&) = default;
};

/// Holds a validated input with every default filled in. Files that it names have not been opened.
struct RunConfig {
  std::string name;  // default: the input's file name without extension
  Grid grid;
  std::optional<EquationsConfig> equations;  // as given, or if a stencil does not suffice (of_stencil)
  StencilForm stencil;
  FieldForm initial;
  std::optional<FieldForm> source;
  bool source_is_rate = false;  // each step adds dt times the source
  TimeConfig time;
  ComputeConfig compute;
  ParallelConfig parallel;
  OutputConfig output;
  DiagnosticsConfig diagnostics;
  CheckpointConfig checkpoint;
  std::vector<OutputStreamConfig> outputs;
  std::vector<PointSourceConfig> point_sources;
  std::vector<ProbesConfig> probes;
  std::vector<ImagesConfig> images;

  /// Returns true if a step is described by [equations] and not by [stencil].
  bool states_equations() const { return equations && !equations->of_stencil; }

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

/// Returns "auto", followed by the names of kinds.
template <std::size_t count>
constexpr std::array<std::string_view, count + 1> with_auto(
    const std::array<std::string_view, count>& names) {
  std::array<std::string_view, count + 1> all{"auto"};
  std::copy(names.begin(), names.end(), all.begin() + 1);
  return all;
}

inline constexpr std::array<std::string_view, 3> device_names{"auto", "cuda", "cpu"};
inline constexpr auto unit_names = with_auto(unit_kind_names);
inline constexpr auto layout_names = with_auto(layout_kind_names);
inline constexpr std::array<std::string_view, 4> transport_names{"auto", "peer", "nccl", "mpi"};
inline constexpr std::array<std::string_view, 2> file_precision_names{"fp32", "fp64"};

/// Reads and validates an input. Errors call the input `file_name`, and relative paths in it start at its
/// directory. Each override is "section.key=value" (deeper: "boundary.z.low.dirichlet=1") and replaces that
/// key of the text; the value is TOML, or a string if it is not valid TOML. Throws Error(invalid_input)
/// naming file, line and key.
RunConfig parse_config(std::string_view text, const std::filesystem::path& file_name,
                       const std::vector<std::string>& overrides = {});

/// Returns the resolved input as TOML: parse_config of it gives the same RunConfig, whatever the file name.
std::string to_toml(const RunConfig& config);

/// Returns the names of the fields in their order: "u" without equations.
std::vector<std::string> field_names(const RunConfig& config);

/// Returns the points of a stream of snapshots, in indices of the grid divided by the stride of the stream:
/// those in its region. Along an axis where the region begins and ends at one coordinate, the nearest point
/// is taken. The box is empty if there are no points.
Box points_of(const OutputStreamConfig& output, const Grid& grid);

/// Adds the constants of equations, and then as variables their coefficients and t, dt and step.
void add_coefficients_and_time(const RunConfig& config, ExpressionNames& names);

/// Returns the names that formulas about the state may use, in this order: the coordinates x, y, z that the
/// grid has, fields, coefficients, t, dt and step; and the constants.
ExpressionNames names_of_state(const RunConfig& config);

}  // namespace spsolve
