// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/io/input/config_mistake.hpp"

namespace spsolve {
namespace {

constexpr const char* good = R"(name = "case"
[grid]
shape = [20, 30]
spacing = [0.1, 0.1]
[boundary]
y = { low = { dirichlet = 1.0 }, high = "neumann" }
[stencil]
preset = "heat"
diffusivity = 1.0e-3
dt = 0.01
[initial]
expression = "x + y"
[time]
steps = 10
)";

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_of_input(text, "case.toml", overrides);
}

std::string error_of(const Mistake& mistake) { return error_of_mistake(good, mistake, "case.toml"); }

class ConfigMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(ConfigMistake, NamesLineAndKey) { EXPECT_EQ(error_of(GetParam()), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    Names, ConfigMistake,
    ::testing::Values(
        Mistake{"[boundary]", "[boundry]",
                "case.toml:5: unknown key 'boundry'; did you mean 'boundary'? valid keys: name, grid, "
                "boundary, constants, coefficients, stencils, fields, equations, stencil, initial, source, "
                "time, compute, parallel, output, diagnostics, checkpoint, outputs, point_sources, "
                "probes, images"},
        Mistake{"y = {", "w = {",
                "case.toml:6: [boundary] unknown key 'w'; did you mean 'x'? valid keys: x, y"},
        Mistake{"y = {", "z = {", "case.toml:6: [boundary] the grid is 2D and has no axis 'z'"},
        Mistake{"low =", "lower =",
                "case.toml:6: [boundary.y] unknown key 'lower'; did you mean 'low'? valid keys: low, high"},
        Mistake{"{ dirichlet = 1.0 }", "{ dirichelt = 1.0 }",
                "case.toml:6: [boundary.y.low] unknown key 'dirichelt'; did you mean "
                "'dirichlet'? valid keys: dirichlet, value, flux, robin"},
        Mistake{"diffusivity", "difusivity",
                "case.toml:9: [stencil] unknown key 'difusivity'; did you mean 'diffusivity'? valid "
                "keys: preset, diffusivity, dt, order"},
        Mistake{"steps = 10", "steps = 10\nfuze = 2",
                "case.toml:15: [time] unknown key 'fuze'; did you mean 'fuse'? valid keys: "
                "steps, end, dt, fuse, wall_limit_minutes, until_change"},
        Mistake{"steps = 10", "steps = 10\n[output]\npath = 'a'",
                "case.toml:16: [output] unknown key 'path'; valid keys: "
                "directory, every, precision, fields, stride, compression, background"}));

INSTANTIATE_TEST_SUITE_P(
    Missing, ConfigMistake,
    ::testing::Values(
        Mistake{"[time]\nsteps = 10", "", "case.toml: missing section [time]"},
        Mistake{"[grid]\nshape = [20, 30]\nspacing = [0.1, 0.1]", "", "case.toml: missing section [grid]"},
        Mistake{"[initial]\nexpression = \"x + y\"", "", "case.toml: missing section [initial]"},
        Mistake{"shape = [20, 30]", "", "case.toml:2: [grid] missing key 'shape'"},
        Mistake{"steps = 10", "", "case.toml:13: [time] needs one of: steps, end"},
        Mistake{"preset = \"heat\"\n", "", "case.toml:7: [stencil] needs one of: preset, file, weights"},
        Mistake{"dt = 0.01\n", "", "case.toml:7: [stencil] preset 'heat' needs 'dt': time step, > 0"},
        Mistake{"diffusivity = 1.0e-3\ndt = 0.01\n", "",
                "case.toml:7: [stencil] preset 'heat' needs 'diffusivity': length^2/time, >= 0; one number, "
                "or one per axis; and 'dt': time step, > 0"},
        Mistake{"\"heat\"", "\"advection-diffusion\"",
                "case.toml:7: [stencil] preset 'advection-diffusion' needs 'velocity': length/time, one "
                "number per axis"},
        Mistake{"expression = \"x + y\"", "file = 'u.h5'", "case.toml:11: [initial] missing key 'dataset'"},
        Mistake{"expression = \"x + y\"", "expression = \"x\"\n[[probes]]",
                "case.toml:13: [probes] missing keys 'name' and 'at'"},
        Mistake{", high = \"neumann\"", "", "case.toml:6: [boundary.y] missing key 'high'"},
        Mistake{"{ dirichlet = 1.0 }", "{}",
                "case.toml:6: [boundary.y.low] needs one of: dirichlet, value, flux, robin"}));

TEST(Config, NamesAllSectionsThatAreMissing) {
  EXPECT_EQ(error_of(""), "case.toml: missing sections [grid], [stencil], [initial], [time]");
  EXPECT_EQ(error_of("[equations]\nstep = \"u.next = u\""), "case.toml: missing sections [grid], [time]");
}

INSTANTIATE_TEST_SUITE_P(
    Types, ConfigMistake,
    ::testing::Values(
        Mistake{"name = \"case\"", "name = 3", "case.toml:1: 'name' must be a string, not an integer"},
        Mistake{"[time]\nsteps = 10", "[[time]]\nsteps = 10",
                "case.toml:13: 'time' must be a table, not a list"},
        Mistake{"[20, 30]", "20", "case.toml:3: [grid] 'shape' must be a list of integers, not an integer"},
        Mistake{"[20, 30]", "[20, 30.0]",
                "case.toml:3: [grid] 'shape' must be an integer, not a floating-point number"},
        Mistake{"[20, 30]", "[20,\n 'x']", "case.toml:4: [grid] 'shape' must be an integer, not a string"},
        Mistake{"[0.1, 0.1]", "[0.1, true]", "case.toml:4: [grid] 'spacing' must be a number, not a boolean"},
        Mistake{"steps = 10", "steps = 1e3",
                "case.toml:14: [time] 'steps' must be an integer, not a floating-point number"},
        Mistake{"steps = 10", "steps = 10\nfuse = 1.5",
                "case.toml:15: [time] 'fuse' must be an integer, not a floating-point number"},
        Mistake{"steps = 10", "steps = 10\n[compute]\ntune = 'yes'",
                "case.toml:16: [compute] 'tune' is 'yes'; wanted \"auto\" or true or false"},
        Mistake{"steps = 10", "steps = 10\nfuse = 'Auto'",
                "case.toml:15: [time] 'fuse' is 'Auto'; wanted \"auto\" or an integer of at least 1"},
        Mistake{"steps = 10", "steps = 2020-01-01",
                "case.toml:14: [time] 'steps' must be an integer, not a date or time"},
        Mistake{"dt = 0.01", "dt = \"0.01\"", "case.toml:10: [stencil] 'dt' must be a number, not a string"},
        Mistake{"dirichlet = 1.0", "dirichlet = 'one'",
                "case.toml:6: [boundary] y.low: line 1, column 1: found the unknown name 'one'; wanted one "
                "of pi, x, t, "
                "dt, step\n  one\n  ^"},
        Mistake{"\"neumann\"", "1",
                "case.toml:6: [boundary.y] 'high' is an integer; valid values: \"periodic\", \"neumann\", "
                "{ dirichlet = c }, { value = c }, { flux = g }, { robin = { h = h, value = c } }, { low = "
                "<face>, high = "
                "<face> }"},
        Mistake{"x + y", "x + y\\u0000z", "case.toml:12: [initial] 'expression' holds the character \\u0000"},
        Mistake{"\"x + y\"", "1.0",
                "case.toml:12: [initial] 'expression' must be a string, not a floating-point number"}));

INSTANTIATE_TEST_SUITE_P(
    Ranges, ConfigMistake,
    ::testing::Values(
        Mistake{"name = \"case\"", "name = \"\"", "case.toml:1: 'name' is empty"},
        Mistake{"name = \"case\"", "name = \"..\"", "case.toml:1: 'name' is '..', no name of a directory"},
        Mistake{"name = \"case\"", "name = \"../case\"",
                "case.toml:1: 'name' must not hold '/' or control characters"},
        Mistake{"[20, 30]", "[20, 0]", "case.toml:3: [grid] 'shape' must be at least 1, not 0"},
        Mistake{"[20, 30]", "[-20, 30]", "case.toml:3: [grid] 'shape' must be at least 1, not -20"},
        Mistake{"[20, 30]", "[]", "case.toml:3: [grid] 'shape' has 0 axes; wanted [z, y, x], [y, x] or [x]"},
        Mistake{"[20, 30]", "[1, 2, 3, 4]",
                "case.toml:3: [grid] 'shape' has 4 axes; wanted [z, y, x], [y, x] or [x]"},
        Mistake{"[20, 30]", "[16777216, 16777217]", "case.toml:3: [grid] 'shape' has more than 2^48 points"},
        Mistake{"[20, 30]", "[20]", "case.toml:4: [grid] 'spacing' has 2 values; the grid has 1 axis"},
        Mistake{"[0.1, 0.1]", "[0.1]", "case.toml:4: [grid] 'spacing' has 1 value; the grid has 2 axes"},
        Mistake{"[0.1, 0.1]", "[0.1, 0]", "case.toml:4: [grid] 'spacing' must be above 0, not 0"},
        Mistake{"[0.1, 0.1]", "[0.1, inf]", "case.toml:4: [grid] 'spacing' must be finite, not inf"},
        Mistake{"[0.1, 0.1]", "[0.1, 0.1]\norigin = [1, 2, 3]",
                "case.toml:5: [grid] 'origin' has 3 values; the grid has 2 axes"},
        Mistake{"dirichlet = 1.0", "dirichlet = nan",
                "case.toml:6: [boundary.y.low] 'dirichlet' must be finite, not nan"},
        Mistake{"\"neumann\"", "\"Neumann\"",
                "case.toml:6: [boundary.y] 'high' is 'Neumann'; valid values: \"periodic\", \"neumann\", "
                "{ dirichlet = c }, { value = c }, { flux = g }, { robin = { h = h, value = c } }, { low = "
                "<face>, high = "
                "<face> }"},
        Mistake{"\"neumann\"", "\"dirichlet\"",
                "case.toml:6: [boundary.y] dirichlet needs a value: { dirichlet = 0.0 }"},
        Mistake{"\"neumann\"", "\"periodic\"",
                "case.toml:6: [boundary] axis 'y' is periodic on one face only"},
        Mistake{"dt = 0.01", "dt = 0", "case.toml:10: [stencil] 'dt' must be positive"},
        Mistake{"dt = 0.01", "dt = 0.01\norder = 3", "case.toml:11: [stencil] 'order' must be 2 or 4"},
        Mistake{"1.0e-3", "[1, 2, 3]",
                "case.toml:9: [stencil] 'diffusivity' has 3 values; wanted one number or one per axis (2)"},
        Mistake{"steps = 10", "steps = -1", "case.toml:14: [time] 'steps' must be at least 0, not -1"},
        Mistake{"steps = 10", "steps = 10\nfuse = 0",
                "case.toml:15: [time] 'fuse' must be at least 1, not 0"},
        Mistake{"steps = 10", "steps = 10\ndt = 0.5",
                "case.toml:15: [time] 'dt' is that of the preset: give it in [stencil] alone"},
        Mistake{"steps = 10", "end = 0.0", "case.toml:14: [time] 'end' must be above 0, not 0"},
        Mistake{"steps = 10", "end = 1e12",
                "case.toml:14: [time] 'end' takes 100000000000000 steps of dt = 0.01, more than 9999999999"},
        Mistake{"steps = 10", "steps = 10\nwall_limit_minutes = 0",
                "case.toml:15: [time] 'wall_limit_minutes' must be above 0, not 0"},
        Mistake{"steps = 10", "steps = 10\n[compute]\nprecision = 'fp23'",
                "case.toml:16: [compute] 'precision' is 'fp23'; did you mean "
                "'fp32'? valid values: fp64, fp32, tf32, bf16, fp16"},
        Mistake{"steps = 10", "steps = 10\n[parallel]\ntimeout_seconds = 0.5",
                "case.toml:16: [parallel] 'timeout_seconds' must be at least 1, not 0.5"},
        Mistake{"steps = 10", "steps = 10\n[parallel]\nexchange_every = 65",
                "case.toml:16: [parallel] 'exchange_every' must be at most 64, not 65"},
        Mistake{"steps = 10", "steps = 10\n[parallel]\nranks = [2]",
                "case.toml:16: [parallel] 'ranks' has 1 value; the grid has 2 axes"},
        Mistake{"steps = 10", "steps = 10\n[parallel]\nranks = [2, 0]",
                "case.toml:16: [parallel] 'ranks' must be at least 1, not 0"},
        Mistake{"steps = 10", "steps = 10\n[parallel]\nranks = [21, 1]",
                "case.toml:16: [parallel] 'ranks' cuts the 20 points of axis 'y' into 21 blocks"},
        Mistake{"steps = 10", "steps = 10\n[output]\nprecision = 'fp16'",
                "case.toml:16: [output] 'precision' is 'fp16'; did you mean "
                "'fp32'? valid values: fp32, fp64"},
        Mistake{"steps = 10", "steps = 10\n[output]\nstride = 0",
                "case.toml:16: [output] 'stride' must be at least 1, not 0"},
        Mistake{"steps = 10", "steps = 10\n[output]\ndirectory = ''",
                "case.toml:16: [output] 'directory' is empty"},
        Mistake{
            "steps = 10", "steps = 10\n[output]\ndirectory = '~/out'",
            "case.toml:16: [output] 'directory' holds '~', which only shells expand; give the whole path, or "
            "--output on the command line"},
        Mistake{"steps = 10", "steps = 10\n[output]\ndirectory = '100%/%TEMP%/b'",
                "case.toml:16: [output] 'directory' holds '%TEMP%', which only shells expand; give the whole "
                "path, "
                "or --output on the command line"},
        Mistake{
            "steps = 10", "steps = 10\n[output]\ndirectory = 'a/${SCRATCH}/b'",
            "case.toml:16: [output] 'directory' holds '${SCRATCH}', which only shells expand; give the whole "
            "path, or --output on the command line"},
        Mistake{"steps = 10", "steps = 10\n[output]\ndirectory = '$(pwd)/b'",
                "case.toml:16: [output] 'directory' holds '$(pwd)', which only shells expand; give the whole "
                "path, "
                "or --output on the command line"},
        Mistake{"steps = 10", "steps = 10\n[output]\ndirectory = 'a/`date`'",
                "case.toml:16: [output] 'directory' holds '`date`', which only shells expand; give the whole "
                "path, "
                "or --output on the command line"},
        Mistake{
            "steps = 10", "steps = 10\n[source]\nfile = '$DATA/u.h5'\ndataset = 'u'",
            "case.toml:16: [source] 'file' holds '$DATA', which only shells expand; give the whole path, or "
            "one relative to the input"},
        Mistake{"steps = 10", "steps = 10\n[diagnostics]\nevery = -5",
                "case.toml:16: [diagnostics] 'every' must be at least 0, not -5"},
        Mistake{"steps = 10", "steps = 10\n[checkpoint]\nkeep = 0",
                "case.toml:16: [checkpoint] 'keep' must be at least 1, not 0"},
        Mistake{"steps = 10", "steps = 10\n[checkpoint]\nminutes = -1",
                "case.toml:16: [checkpoint] 'minutes' must be above 0, not -1"}));

INSTANTIATE_TEST_SUITE_P(
    Contradictions, ConfigMistake,
    ::testing::Values(
        Mistake{"steps = 10", "steps = 10\nend = 1.0",
                "case.toml:15: [time] 'steps' and 'end' contradict each other; give exactly one"},
        Mistake{"dt = 0.01", "dt = 0.01\nfile = 'w.h5'",
                "case.toml:11: [stencil] 'preset' and 'file' contradict each other; give exactly one"},
        Mistake{"dt = 0.01", "dt = 0.01\ndataset = '/w'",
                "case.toml:11: [stencil] unknown key 'dataset'; valid keys: preset, diffusivity, dt, order"},
        Mistake{"\"x + y\"", "\"x + y\"\nfile = 'u.h5'",
                "case.toml:13: [initial] 'expression' and 'file' contradict each other; give exactly one"},
        Mistake{"preset = \"heat\"\ndiffusivity = 1.0e-3\ndt = 0.01\n[initial]\nexpression = \"x + "
                "y\"\n[time]\nsteps = 10",
                "weights = [[1]]\n[initial]\nexpression = \"x + y\"\n[time]\nend = 10",
                "case.toml:12: [time] 'end' needs 'dt', the time that a step takes; give it here, or 'steps' "
                "instead"},
        Mistake{"preset = \"heat\"\ndiffusivity = 1.0e-3\ndt = 0.01", "preset = 'star3d1r'",
                "case.toml:8: [stencil] preset 'star3d1r' is for 3D grids, this one is 2D"},
        Mistake{"high = \"neumann\"", "dirichlet = 1.0",
                "case.toml:6: [boundary.y] unknown key 'dirichlet'; valid keys: low, high"},
        Mistake{"steps = 10", "steps = 10\n[compute]\naccuracy = 0.0",
                "case.toml:16: [compute] 'accuracy' must be above 0, not 0"},
        Mistake{"steps = 10", "steps = 10\n[compute]\nunit = 'scalar'\nlayout = 'morph'",
                "case.toml:17: [compute] layout 'morph' is for tensor units, and unit is 'scalar'"}));

constexpr const char* heat_lines = "preset = \"heat\"\ndiffusivity = 1.0e-3\ndt = 0.01";

INSTANTIATE_TEST_SUITE_P(
    Weights, ConfigMistake,
    ::testing::Values(
        Mistake{heat_lines, "weights = 1",
                "case.toml:8: [stencil] 'weights' must be lists nested once per axis of the grid; found an "
                "integer in place of a list"},
        Mistake{heat_lines, "weights = [1, 2]",
                "case.toml:8: [stencil] 'weights' must be lists nested once per axis of the grid; found an "
                "integer in place of a list"},
        Mistake{heat_lines, "weights = [[[1]]]",
                "case.toml:8: [stencil] 'weights' is nested deeper than the grid has axes"},
        Mistake{heat_lines, "weights = [\n[1, 2],\n[3]]",
                "case.toml:10: [stencil] 'weights' is not rectangular: a list of 1 beside one of 2"},
        Mistake{heat_lines, "weights = [\n[1, 2],\n[3, 'x']]",
                "case.toml:10: [stencil] 'weights' must be a number, not a string"},
        Mistake{heat_lines, "weights = [[1, inf]]",
                "case.toml:8: [stencil] 'weights' must be finite, not inf"},
        Mistake{heat_lines, "weights = [[]]", "case.toml:8: [stencil] 'weights' holds an empty list"},
        Mistake{heat_lines, "weights = []", "case.toml:8: [stencil] 'weights' holds an empty list"},
        Mistake{heat_lines, "weights = [[0.0, 0]]", "case.toml:8: [stencil] every weight is zero"},
        Mistake{heat_lines, "weights = [[1, 2]]\ncenter = [0]",
                "case.toml:9: [stencil] 'center' has 1 value; the grid has 2 axes"},
        Mistake{heat_lines, "weights = [[1, 2]]\ncenter = [0, 2]",
                "case.toml:9: [stencil] 'center' is outside of 'weights', whose extent is 2 on axis 'x'"},
        Mistake{heat_lines, "weights = [[1, 2]]\ncenter = [-1, 0]",
                "case.toml:9: [stencil] 'center' must be at least 0, not -1"},
        Mistake{heat_lines, "file = 'w.h5'\ndataset = '/w'\ncenter = [1, 1]",
                "case.toml:10: [stencil] unknown key 'center'; valid keys: file, dataset"},
        Mistake{heat_lines, "file = ''\ndataset = '/w'", "case.toml:8: [stencil] 'file' is empty"}));

// The text after the position is that of toml++, or of io/language.
TEST(ConfigMistake, PlacesWhatTheLibrariesReport) {
  const auto begins = [](const Mistake& mistake) {
    EXPECT_TRUE(error_of(mistake).starts_with(mistake.message)) << error_of(mistake);
  };
  begins({"steps = 10", "steps = 10\nsteps = 11", "case.toml:15: Error while parsing"});
  begins({"steps = 10", "steps = 10\n\nfuse = auto", "case.toml:16: Error while parsing"});
  begins({"[0.1, 0.1]", "[0.1, 0.1\n", "case.toml:6: Error while parsing"});
  begins(
      {"\"x + y\"", "\"x + z\"",
       "case.toml:12: [initial] expression 'x + z': line 1, column 5: found the unknown name 'z'; wanted"});
  begins({"[time]", "[source]\nexpression = 'sin(x'\n[time]",
          "case.toml:14: [source] expression 'sin(x': line 1, column 6: found the end of the text; wanted"});
}

// The fuzzer found these cases. On these letters toml++ has undefined behaviour, and on these headers it
// asserts.
TEST(ConfigMistake, IsALetterThatIsNotAsciiOutsideOfStringsAndComments) {
  const auto stray = [](const char* character) {
    return fmt::format("case.toml:10: the {} outside of strings and comments; wanted ASCII there", character);
  };
  EXPECT_EQ(error_of({"dt = 0.01", "\u0394t = 0.01", ""}), stray("character '\u0394' (U+0394)"));
  EXPECT_EQ(error_of({"dt = 0.01", "dt =\u00a00.01", ""}), stray("character '\u00a0' (U+00A0)"));
  EXPECT_EQ(error_of({"dt = 0.01", "dt = \U0001d7ce", ""}), stray("character '\U0001d7ce' (U+1D7CE)"));
  EXPECT_EQ(error_of({"dt = 0.01", "dt = 0.01 \xb5", ""}), stray("byte 0xB5, which is no UTF-8,"));
  EXPECT_EQ(error_of({"dt = 0.01", "dt = 0.01 \xe2\x80", ""}), stray("byte 0xE2, which is no UTF-8,"));
  EXPECT_EQ(error_of(good, {"stencil.dt=0.01\u00b5"}),
            "--set stencil.dt=0.01\u00b5: [stencil] 'dt' must be a number, not a string");
  EXPECT_EQ(error_of({"dt = 0.01", "dt = 0.01 # \u0394t, \"\u00b5s", ""}), "no error");
  for (const char* dataset :
       {R"('Δt')", R"("\"Δt" # "Δt)", R"("""Δ"t"""""  # Δ)", R"('''Δ''t''''')", "\"\"\"\nΔ\n\"\"\""})
    EXPECT_EQ(error_of({"expression = \"x + y\"",
                        ("file = 'u.h5'\ndataset = " + std::string(dataset)).c_str(), ""}),
              "no error")
        << dataset;
  EXPECT_TRUE(error_of({"[time]", "[!time]", ""}).starts_with("case.toml:13: Error while parsing"));
  EXPECT_EQ(error_of(std::string("\xff\xfe[\0g\0r\0i\0d\0]\0\n\0", 16)),
            "case.toml:1: a byte of value 0, as in HDF5 files and in text of UTF-16; wanted TOML in UTF-8");
  EXPECT_TRUE(error_of({"[time]", "[[[time]]]", ""}).starts_with("case.toml:13: Error while parsing"));
}

TEST(ConfigMistake, ReportsTheFirstUnknownKeyOfASection) {
  EXPECT_EQ(
      error_of({"steps = 10", "zteps = 10\nsteps = 10\nateps = 3", ""}),
      "case.toml:14: [time] unknown key 'zteps'; did you mean 'steps'? valid keys: steps, end, dt, fuse, "
      "wall_limit_minutes, until_change");
}

TEST(ConfigMistake, SuggestsPresets) {
  EXPECT_EQ(
      error_of({"\"heat\"", "\"haet\"", ""}),
      "case.toml:8: [stencil] there is no preset 'haet'; did you mean 'heat'? presets: heat, "
      "advection-diffusion, box-filter, any (star|box|random)<d>d<r>r or 1d<r>r, and the catalogue that "
      "spsolve bench --list shows");
}

TEST(ConfigOverrideMistake, IsBlamedOnTheOverride) {
  const auto of = [](const char* text) { return error_of(good, {text}); };
  EXPECT_EQ(of("TIME.steps=3").substr(0, 62),
            "--set TIME.steps=3: unknown key 'TIME'; did you mean 'time'? v");
  EXPECT_EQ(
      of("time.steps=010"),
      "--set time.steps=010: [time] 'steps' must be an integer, not 010, which is no number in TOML; leading "
      "zeros are one reason");
  EXPECT_EQ(
      of("time.steps=1e400"),
      "--set time.steps=1e400: [time] 'steps' must be an integer, not 1e400, which is beyond the range of "
      "64 bits");
  EXPECT_EQ(
      of("time.step=3"),
      "--set time.step=3: [time] unknown key 'step'; did you mean 'steps'? valid keys: steps, end, dt, fuse, "
      "wall_limit_minutes, until_change");
  EXPECT_EQ(of("tine.steps=3"),
            "--set tine.steps=3: unknown key 'tine'; did you mean 'time'? valid keys: name, grid, boundary, "
            "constants, coefficients, stencils, fields, equations, "
            "stencil, initial, source, time, compute, parallel, output, diagnostics, checkpoint, outputs, "
            "point_sources, "
            "probes, images");
  EXPECT_EQ(of("time.steps=many"), "--set time.steps=many: [time] 'steps' must be an integer, not a string");
  EXPECT_EQ(of("time.steps=1e400"),
            "--set time.steps=1e400: [time] 'steps' must be an integer, not 1e400, which is beyond the range "
            "of 64 bits");
  EXPECT_EQ(of("stencil.dt=-1e400"),
            "--set stencil.dt=-1e400: [stencil] 'dt' must be a number, not -1e400, which is beyond the range "
            "of 64 bits");
  EXPECT_EQ(of("stencil.dt='1'"), "--set stencil.dt='1': [stencil] 'dt' must be a number, not a string");
  EXPECT_EQ(of("time.steps="), "--set time.steps=: [time] 'steps' must be an integer, not a string");
  EXPECT_EQ(of("grid.shape=[3, 4"),
            "--set grid.shape=[3, 4: Error while parsing array: encountered end-of-file");
  EXPECT_EQ(of("output.fields=[u]"),
            "--set output.fields=[u]: Error while parsing value: could not determine value type; texts in "
            "lists and tables have quotes, as in --set 'output.fields=[\"u\"]'");
  EXPECT_EQ(of("grid=3"), "--set grid=3: 'grid' must be a table, not an integer");
  EXPECT_EQ(
      of("time.end=3"),
      "--set time.end=3: [time] 'steps' and 'end' contradict each other; give exactly one, or the section "
      "anew: --set 'time={end = ...}'");
  std::string with_end = good;
  with_end.replace(with_end.find("steps = 10"), 10, "end = 3.0");
  EXPECT_EQ(error_of(with_end, {"time.steps=3"}).find("--set time.steps=3: [time] 'steps' and 'end'"), 0U);
  EXPECT_EQ(of("boundary.y.low.dirichlet=inf"),
            "--set boundary.y.low.dirichlet=inf: [boundary.y.low] 'dirichlet' must be finite, not inf");
  EXPECT_EQ(of("boundary.x.low=neumann"), "--set boundary.x.low=neumann: [boundary.x] missing key 'high'");
  EXPECT_TRUE(
      of("initial.expression=x+")
          .starts_with("--set initial.expression=x+: [initial] expression 'x+': line 1, column 3: found "
                       "the end of the text"));
  EXPECT_EQ(of("time.steps"), "--set time.steps: wanted section.key=value");
  EXPECT_EQ(of("=3"), "--set =3: wanted section.key=value");
  EXPECT_EQ(of("[time]\nsteps=3"), "--set [time]\nsteps=3: wanted section.key=value");
  EXPECT_EQ(of("time.steps=3\ntime.fuse=2"), "--set time.steps=3\ntime.fuse=2: wanted one value");
  EXPECT_EQ(of("time.steps=3\n[output]\nevery=2"), "--set time.steps=3\n[output]\nevery=2: wanted one value");
  EXPECT_NE(of("time..steps=3"), "no error");
  EXPECT_NE(of("name=\xff"), "no error") << "no UTF-8";
}

}  // namespace
}  // namespace spsolve
