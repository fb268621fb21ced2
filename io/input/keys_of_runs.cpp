// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "io/input/config.hpp"
#include "io/input/keys.hpp"
#include "io/input/read_problem.hpp"

namespace spsolve {
namespace {

constexpr double int_max = std::numeric_limits<int>::max();
constexpr Limits counts{.min = 1, .max = int_max};
constexpr Limits steps_from_0{.min = 0, .max = static_cast<double>(max_steps)};
constexpr Limits steps_from_1{.min = 1, .max = static_cast<double>(max_steps)};
constexpr Limits strides{.min = 1, .max = static_cast<double>(max_points)};
constexpr std::array<std::string_view, 1> automatic{"auto"};
constexpr std::string_view points = "point, list of points or dataset";
constexpr std::string_view as_the_run = "\"fp64\" for fp64 runs, else \"fp32\"";

// Entries of a table are written in as few lines as possible.
// clang-format off
std::vector<Key> time_and_machine() {
  return {
      {"time", "steps", "integer", "steps", "required, or `end`", "time steps of the run", "steps = 1000",
       steps_from_0},
      {"time", "end", "number", "time", "none",
       "instead of `steps`: simulated time, taken by the fewest steps that reach it; needs `dt`",
       "end = 2.5", positive},
      {"time", "dt", "number", "time", "1.0", "time that one step takes; not with a preset that has its own",
       "dt = 0.01", positive},
      {"time", "fuse", "integer or text", "steps", R"("auto")", "time steps per pass over memory", "fuse = 4",
       {.min = 1, .max = max_fused}, automatic},
      {"time", "wall_limit_minutes", "number", "minutes", "no limit",
       "write a checkpoint and stop before this wall time", "wall_limit_minutes = 90", positive},
      {"time", "until_change", "number", "", "never",
       "end when a step changes every field by less than this share of its norm; looked for at diagnostics",
       "until_change = 1.0e-9", positive},

      {"compute", "device", "text", "", R"("auto")", "GPUs or processor cores; `auto`: GPUs if there are any",
       R"(device = "cpu")", {}, device_names},
      {"compute", "precision", "text", "", R"("fp64")", "format in which the state is stored and computed",
       R"(precision = "fp32")", {}, precision_names},
      {"compute", "unit", "text", "", R"("auto")", "kernels: plain cores or tensor cores",
       R"(unit = "scalar")", {}, unit_names},
      {"compute", "layout", "text", "", R"("auto")", "how tensor cores take the weights",
       R"(layout = "natural-order")", {}, layout_names},
      {"compute", "accuracy", "number", "", "none",
       "accepted relative L2 error of the state after all steps; allows any precision up to `precision` that "
       "keeps it",
       "accuracy = 1.0e-4", positive},
      {"compute", "tune", "boolean or text", "", R"("auto")",
       "time the best candidates first; `auto`: in long runs on GPUs", "tune = true", {}, automatic},

      {"parallel", "ranks", "list of integers or text", "blocks", R"("auto")",
       "blocks per axis, slowest first", "ranks = [1, 1]", counts, automatic},
      {"parallel", "transport", "text", "", R"("auto")",
       "how halos travel; `peer` is for GPUs of one machine", R"(transport = "mpi")", {}, transport_names},
      {"parallel", "exchange_every", "integer or text", "launches", R"("auto")",
       "launches of the scalar unit that share one halo exchange", "exchange_every = 2",
       {.min = 1, .max = max_exchange_every}, automatic},
      {"parallel", "share_gpus", "boolean", "", "false", "several ranks may use one GPU, to try things out",
       "share_gpus = true"},
      {"parallel", "graphs", "boolean", "", "true", "replay launches as CUDA graphs", "graphs = false"},
      {"parallel", "timeout_seconds", "number", "seconds", "30",
       "the job ends when a rank gives no sign of life for this long", "timeout_seconds = 60",
       {.min = 1, .max = 1e8}},
  };
}

std::vector<Key> results() {
  return {
      {"output", "directory", "text", "", "out/<name>", "where results go, from where spsolve is started",
       R"(directory = "results/heat")"},
      {"output", "every", "integer", "steps", "0", "steps between snapshots; 0: only after the last step",
       "every = 100", steps_from_0},
      {"output", "precision", "text", "", as_the_run, "precision of snapshots", R"(precision = "fp32")", {},
       file_precision_names},
      {"output", "fields", "list of texts", "", "all", "the fields that snapshots hold", R"(fields = ["u"])"},
      {"output", "stride", "integer", "points", "1", "snapshots keep every stride-th point of each axis",
       "stride = 2", strides},
      {"output", "compression", "text", "", R"("none")", "lossless compression of snapshots",
       R"(compression = "deflate")", {}, compression_names},
      {"output", "background", "boolean or text", "", R"("auto")",
       "write files during the run; `auto`: on GPUs", "background = true", {}, automatic},

      {"diagnostics", "every", "integer", "steps", "0",
       "steps between rows of `diagnostics.csv`; 0: the first and the last step", "every = 100",
       steps_from_0},
      {"diagnostics", "sums", "table", "", "none", "further columns by name: sums over the grid of formulas",
       R"(sums = { energy = "0.5*u^2" })", {}, {}, "diagnostics.sums"},
      {"diagnostics.sums", "<column>", "text", "", "none", "formula of the state that is summed over the grid",
       R"(energy = "0.5*u^2")"},
      {"checkpoint", "every", "integer", "steps", "0", "steps between checkpoints; 0: not by steps",
       "every = 1000", steps_from_0},
      {"checkpoint", "minutes", "number", "minutes", "not by time", "wall time between checkpoints",
       "minutes = 30", positive},
      {"checkpoint", "keep", "integer", "files", "2", "newest checkpoints that stay", "keep = 3", counts},
      {"checkpoint", "final", "boolean", "", "false",
       "also write a checkpoint of the last step, from which a longer run can continue", "final = true"},

      {"outputs", "name", "text", "", "required", "begins the names of the files: letters, digits, `_`, `-`",
       R"(name = "surface")"},
      {"outputs", "fields", "list of texts", "", "all", "the fields that the files hold", R"(fields = ["u"])"},
      {"outputs", "every", "integer", "steps", "0", "steps between files, from step 0 on, besides the last step; 0: only that",
       "every = 10", steps_from_0},
      {"outputs", "every_time", "number", "time", "none",
       "instead of `every`: time between files, of the first step at or after each multiple",
       "every_time = 0.5", positive},
      {"outputs", "region", "table", "length", "all", "coordinates per axis, first and last",
       "region = { y = [0.0, 1.0] }", {}, {}, "outputs.region"},
      {"outputs", "stride", "integer", "points", "1", "as in `[output]`", "stride = 2", strides},
      {"outputs", "precision", "text", "", as_the_run, "as in `[output]`", R"(precision = "fp32")", {},
       file_precision_names},
      {"outputs", "compression", "text", "", R"("none")", "as in `[output]`", R"(compression = "deflate")",
       {}, compression_names},
      {"outputs.region", "x", "list of two numbers", "length", "all",
       "coordinates x; `[a, a]` is the plane nearest to a, and the file has no such axis", "x = [0.0, 1.0]"},
      {"outputs.region", "y", "list of two numbers", "length", "all", "coordinates y", "y = [0.5, 0.5]"},
      {"outputs.region", "z", "list of two numbers", "length", "all", "coordinates z", "z = [0.5, 0.5]"},
  };
}

std::vector<Key> points_and_pictures() {
  return {
      {"point_sources", "field", "text", "", "the only field", "field that it is added to",
       R"(field = "u")"},
      {"point_sources", "at", points, "length", "required",
       "coordinates, slowest axis first; a dataset has the shape [points, axes]", "at = [0.5, 1.5]", {}, {},
       "<dataset>"},
      {"point_sources", "value", "number, formula or dataset", "field", "required",
       "added in each step; formulas know `t`, `dt`, `step`, constants, coordinates, coefficients; datasets: [steps] or [steps, points]",
       R"~(value = "dt*sin(t)")~", {}, {}, "<dataset>"},
      {"point_sources", "interpolation", "text", "", R"("linear")",
       "spread over the grid points around, or added to the nearest", R"(interpolation = "nearest")", {},
       interpolation_names},
      {"probes", "name", "text", "", "required", "a group in `probes.h5`", R"(name = "receivers")"},
      {"probes", "fields", "list of texts", "", "all", "the fields that are recorded", R"(fields = ["u"])"},
      {"probes", "at", points, "length", "required", "as for point sources", "at = [[0.0, 0.0], [0.5, 1.5]]",
       {}, {}, "<dataset>"},
      {"probes", "every", "integer", "steps", "1", "steps between rows", "every = 2", steps_from_1},

      {"images", "name", "text", "", "required", "begins the names of the files: letters, digits, `_`, `-`",
       R"(name = "heat")"},
      {"images", "value", "text", "", "required",
       "formula of fields, coefficients, constants, coordinates, `t`, `dt`, `step`", R"(value = "u - 0.5")"},
      {"images", "every", "integer", "steps", "1", "steps between images, from step 0 on", "every = 20",
       steps_from_1},
      {"images", "plane", "table", "length", "the middle plane of z",
       "in 3D an axis and a coordinate; the nearest plane of points is drawn", "plane = { z = 0.5 }", {}, {},
       "images.plane"},
      {"images", "range", "list of two numbers or text", "", R"("auto")",
       "values of the first and the last color; `auto`: extremes of each image, `fixed`: of the first one",
       "range = [-1.0, 1.0]", {}, image_range_names},
      {"images", "colormap", "text", "", R"("viridis")", "`blue-red` is diverging: 0 lies in its middle",
       R"(colormap = "blue-red")", {}, colormap_names},
      {"images.plane", "x", "number", "length", "none", "a plane across the axis x", "x = 0.5"},
      {"images.plane", "y", "number", "length", "none", "a plane across the axis y", "y = 0.5"},
      {"images.plane", "z", "number", "length", "none", "a plane across the axis z", "z = 0.5"},
  };
}

// clang-format on
}  // namespace

std::vector<Key> keys_of_runs() {
  std::vector<Key> all;
  for (const auto& part : {time_and_machine(), results(), points_and_pictures()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace spsolve
