// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "io/input/keys.hpp"
#include "io/input/read_problem.hpp"

namespace spsolve {
namespace {

constexpr Limits not_negative{.min = 0};
constexpr std::array<std::string_view, 2> plain_walls{"periodic", "neumann"};
constexpr std::string_view number_values = "number, formula or dataset";
constexpr std::string_view tables = "list of tables";

constexpr Limits points_from(double least) { return {.min = least, .max = static_cast<double>(max_points)}; }

// Entries of a table are written in as few lines as possible.
// clang-format off
std::vector<Key> top_level() {
  return {
      {"", "name", "text", "", "name of the input file", "name of the run, without `/`",
       R"(name = "heat3d")"},
      {"", "grid", "table", "", "required", "the points of the grid", "grid = { shape = [64, 64] }", {}, {},
       "grid"},
      {"", "boundary", "table", "", "periodic", "walls, by axis; of one field by its name",
       R"(boundary = { x = "neumann" })", {}, {}, "boundary"},
      {"", "constants", "table", "", "none", "numbers by name, for equations", "constants = { c = 2.0 }", {},
       {}, "constants"},
      {"", "coefficients", "table", "", "none", "one value per point that does not change, for equations",
       R"(coefficients = { k = "1 + x" })", {}, {}, "coefficients"},
      {"", "stencils", "table", "", "none", "weights by name for `correlate` in equations",
       "stencils = { w = { weights = [1, -2, 1] } }", {}, {}, "stencils"},
      {"", "fields", "table", "", "required with equations", "the unknowns of equations",
       "fields = { u = { initial = 1.0 } }", {}, {}, "fields"},
      {"", "equations", "table", "", "none", "a time step as statements, instead of a stencil",
       R"(equations = { step = "u.next = 0.5*u" })", {}, {}, "equations"},
      {"", "stencil", "table", "", "required without equations", "the weights of a time step",
       R"(stencil = { preset = "star2d1r" })", {}, {}, "stencil"},
      {"", "initial", "table", "", "required without equations", "the initial values",
       R"(initial = { expression = "x" })", {}, {}, "initial"},
      {"", "source", "table", "", "none", "values that are added in every step, beside a stencil",
       R"(source = { expression = "0.1*x" })", {}, {}, "source"},
      {"", "time", "table", "", "required", "the length of the run", "time = { steps = 100 }", {}, {},
       "time"},
      {"", "compute", "table", "", "automatic", "device, precision and kernels",
       R"(compute = { precision = "fp32" })", {}, {}, "compute"},
      {"", "parallel", "table", "", "automatic", "how ranks work together", "parallel = { graphs = true }",
       {}, {}, "parallel"},
      {"", "output", "table", "", "the last step", "snapshots", "output = { every = 10 }", {}, {}, "output"},
      {"", "diagnostics", "table", "", "first and last step", "rows of diagnostics.csv",
       "diagnostics = { every = 10 }", {}, {}, "diagnostics"},
      {"", "checkpoint", "table", "", "none", "files from which a run can continue", "checkpoint = { every = 10 }",
       {}, {}, "checkpoint"},
      {"", "outputs", tables, "", "none", "further streams of snapshots",
       R"(outputs = [{ name = "coarse", stride = 4 }])", {}, {}, "outputs"},
      {"", "point_sources", tables, "", "none", "amounts that are added at points in every step",
       R"~(point_sources = [{ at = [0.0, 0.0], value = "sin(t)" }])~", {}, {}, "point_sources"},
      {"", "probes", tables, "", "none", "points at which fields are recorded",
       R"(probes = [{ name = "p", at = [0.0, 0.0] }])", {}, {}, "probes"},
      {"", "images", tables, "", "none", "pictures that are drawn during the run",
       R"(images = [{ name = "u", value = "u" }])", {}, {}, "images"},
  };
}

std::vector<Key> grid_and_walls() {
  constexpr std::string_view wall = "wall", of_face = "boundary.<axis>";
  return {
      {"grid", "shape", "list of integers", "points", "required",
       "points per axis, slowest first; the length of the list is the dimension of the problem",
       "shape = [256, 256, 256]", points_from(1)},
      {"grid", "spacing", "list of numbers", "length", "1.0 on each axis", "distance between points per axis",
       "spacing = [0.01, 0.01, 0.01]", positive},
      {"grid", "extent", "list of numbers or of pairs", "length", "none",
       "instead of `spacing`: distance between the walls of each axis, or their two places",
       "extent = [1.0, [-1.0, 1.0], 2.0]"},
      {"grid", "origin", "list of numbers", "length", "0.0 on each axis; with `extent` the low walls are at 0",
       "coordinates of the first point", "origin = [0.0, -1.0, 0.0]"},

      {"boundary", "x", wall, "", R"("periodic")", "both faces of the axis x", R"(x = "neumann")", {},
       plain_walls, of_face},
      {"boundary", "y", wall, "", R"("periodic")", "both faces of the axis y", "y = { dirichlet = 0.0 }", {},
       plain_walls, of_face},
      {"boundary", "z", wall, "", R"("periodic")", "both faces of the axis z",
       R"(z = { low = { value = 1.0 }, high = "neumann" })", {}, plain_walls, of_face},
      {"boundary", "<field>", "table", "", "as for all fields",
       "walls of one field, by axis; an axis is periodic for all fields or for none",
       R"(u = { x = "neumann" })", {}, {}, "boundary"},
      {of_face, "low", wall, "", "required beside `high`", "the face at the first point",
       R"(low = "neumann")", {}, plain_walls, of_face},
      {of_face, "high", wall, "", "required beside `low`", "the face at the last point",
       "high = { dirichlet = 1.0 }", {}, plain_walls, of_face},
      {of_face, "dirichlet", number_values, "field", "none", "value one spacing beyond the outermost points",
       "dirichlet = 1.0", {}, {}, "<dataset>"},
      {of_face, "value", number_values, "field", "none", "value at the wall, half a spacing beyond",
       R"~(value = "sin(t)")~", {}, {}, "<dataset>"},
      {of_face, "flux", number_values, "field / length", "none", "derivative along the outward normal", "flux = 2.0",
       {}, {}, "<dataset>"},
      {of_face, "robin", "table", "", "none", "derivative along the outward normal = h (value - field)",
       "robin = { h = 3.0, value = 15.0 }", {}, {}, "boundary.<axis>.robin"},
      {"boundary.<axis>.robin", "h", "number", "1 / length", "required", "factor of the difference",
       "h = 3.0", not_negative},
      {"boundary.<axis>.robin", "value", number_values, "field", "required", "value outside of the wall",
       "value = 15.0", {}, {}, "<dataset>"},
  };
}

std::vector<Key> stencil_and_values() {
  return {
      {"stencil", "preset", "text", "", "none", "name of a preset or of a stencil of the catalogue",
       R"(preset = "heat")"},
      {"stencil", "file", "text", "", "none", "HDF5 file with weights", R"(file = "weights.h5")"},
      {"stencil", "dataset", "text", "", "required beside `file`",
       "dataset with as many axes as the grid; its attribute `center` as below", R"(dataset = "/weights")"},
      {"stencil", "weights", "nested lists of numbers", "", "none",
       "weights, nested as the grid; any extents",
       "weights = [[0.0, 0.1, 0.0], [0.3, 0.3, 0.1], [0.0, 0.2, 0.0]]"},
      {"stencil", "center", "list of integers", "points", "half of each extent, rounded down",
       "with `weights`: index of the point itself", "center = [1, 1]", points_from(0)},
      {"stencil", "diffusivity", "number or list of numbers", "length^2 / time", "required",
       "for `heat` and `advection-diffusion`: one number, or one per axis", "diffusivity = 1.0e-3"},
      {"stencil", "velocity", "list of numbers", "length / time", "required",
       "for `advection-diffusion`: one number per axis", "velocity = [0.0, 1.0]"},
      {"stencil", "dt", "number", "time", "required", "for `heat` and `advection-diffusion`: time step",
       "dt = 0.01"},
      {"stencil", "order", "integer", "", "2",
       "for `heat` and `advection-diffusion`: order of the differences in space, 2 or 4", "order = 4"},
      {"stencil", "radius", "number or list of numbers", "points", "1",
       "for `box-filter`: one number, or one per axis", "radius = 2"},

      {"initial", "expression", "text", "field", "none", "formula of the coordinates, `pi` and `dt`",
       R"~(expression = "sin(2*pi*x)")~"},
      {"initial", "file", "text", "", "none", "HDF5 file with the values", R"(file = "u.h5")"},
      {"initial", "dataset", "text", "", "required beside `file`", "dataset with the shape of the grid",
       R"(dataset = "/u")"},
      {"source", "expression", "text", "field", "none",
       "formula of the coordinates, `pi`, `t`, `dt` and `step`", R"~(expression = "0.1*exp(-x^2)")~"},
      {"source", "file", "text", "", "none", "HDF5 file with the values", R"(file = "source.h5")"},
      {"source", "dataset", "text", "", "required beside `file`", "dataset with the shape of the grid",
       R"(dataset = "/s")"},
      {"source", "rate", "boolean", "", "false", "values are per time: each step adds `dt` times as much",
       "rate = true"},
      {"<dataset>", "file", "text", "", "required", "HDF5 file; relative to the input",
       R"(file = "model.h5")"},
      {"<dataset>", "dataset", "text", "", "required", "path of the dataset in the file",
       R"(dataset = "/velocity")"},
  };
}

std::vector<Key> equations() {
  return {
      {"constants", "<name>", "number", "", "none", "number that formulas and statements use by name",
       "c = 2.0"},
      {"coefficients", "<name>", number_values, "", "none",
       "value per point; formulas know coordinates, constants, `dt` and other coefficients",
       R"(k = "1 + 0.1*x")", {}, {}, "<dataset>"},
      {"stencils", "<name>", "table", "", "none", "weights in the forms of `[stencil]`",
       "w = { weights = [1, -2, 1] }", {}, {}, "stencil"},
      {"fields", "<name>", "table", "", "none", "an unknown", "u = { initial = 1.0 }", {}, {},
       "fields.<name>"},
      {"fields.<name>", "initial", number_values, "field", "0",
       "initial values; formulas know coordinates, constants and `dt`", R"~(initial = "exp(-x^2)")~", {}, {},
       "<dataset>"},
      {"fields.<name>", "previous", number_values, "field", "as `initial`",
       "values one step before the first, if the equations read them", R"~(previous = "exp(-(x + dt)^2)")~", {},
       {}, "<dataset>"},
      {"equations", "step", "text", "", "required",
       "statements of one time step, `<field>.next = ...` for each field",
       R"~(step = "u.next = u + 0.1*laplace(u)")~"},
  };
}

// clang-format on
}  // namespace

std::vector<Key> keys_of_problems() {
  std::vector<Key> all;
  for (const auto& part : {top_level(), grid_and_walls(), stencil_and_values(), equations()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace spsolve
