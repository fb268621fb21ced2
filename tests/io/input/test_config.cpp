// SPDX-License-Identifier: Apache-2.0
#include "io/input/config.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/input/read_stencil.hpp"
#include "io/nearest_name.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr const char* everything = R"(name = "heat3d"
[grid]
shape   = [20, 30, 40]
spacing = [0.01, 0.02, 0.03]
origin  = [0.0, 1.0, -2]
[boundary]
x = "periodic"
y = "neumann"
z = { low = { dirichlet = 1.0 }, high = { dirichlet = 0.0 } }
[stencil]
preset  = "heat"
diffusivity = 1.0e-3
dt = 0.01
[initial]
expression = "x + y"
[source]
file = "data/grid.h5"
dataset = "/s"
[time]
steps = 1000
fuse  = 4
wall_limit_minutes = 90
[compute]
device    = "cuda"
precision = "fp32"
unit      = "sparse-tensor"
layout    = "morph"
accuracy  = 1e-5
tune      = true
[parallel]
ranks     = [2, 1, 3]
transport = "mpi"
exchange_every = 3
share_gpus = true
graphs = false
timeout_seconds = 7.5
[output]
directory = "out/heat"
every     = 100
stride    = 2
background = true
precision = "fp64"
[diagnostics]
every     = 50
[checkpoint]
every     = 500
minutes   = 12.5
keep      = 3
final     = true
)";

constexpr const char* least = R"(
grid.shape = [9]
stencil.weights = [1, 2]
initial.expression = "x"
time.steps = 3
)";

TEST(Config, ReadsEveryKey) {
  const RunConfig config = parse_config(everything, "/inputs/heat3d.toml");
  EXPECT_EQ(config.name, "heat3d");
  const Domain& domain = config.grid.domain;
  EXPECT_EQ(domain.dimensions, 3);
  EXPECT_EQ(domain.shape, (Index3{20, 30, 40}));
  EXPECT_EQ(config.grid.spacing, (std::array{0.01, 0.02, 0.03}));
  EXPECT_EQ(config.grid.origin, (std::array{0.0, 1.0, -2.0}));
  EXPECT_EQ(domain.faces[z_axis][low], (Face{BoundaryKind::dirichlet, 1.0}));
  EXPECT_EQ(domain.faces[z_axis][high], (Face{BoundaryKind::dirichlet, 0.0}));
  EXPECT_EQ(domain.faces[y_axis][low], Face{BoundaryKind::neumann});
  EXPECT_EQ(domain.faces[y_axis][high], Face{BoundaryKind::neumann});
  EXPECT_TRUE(domain.periodic(x_axis));
  EXPECT_EQ(config.stencil, StencilForm(PresetForm{"heat", {{"diffusivity", {1e-3}}, {"dt", {0.01}}}}));
  EXPECT_EQ(config.initial, FieldForm(ExpressionForm{"x + y"}));
  EXPECT_EQ(config.source, FieldForm(DatasetForm{"/inputs/data/grid.h5", "/s"}));
  EXPECT_EQ(config.time, (TimeConfig{1000, 0.01, 4, 90.0}));
  EXPECT_EQ(config.compute,
            (ComputeConfig{"cuda", Precision::fp32, UnitKind::sparse_tensor, Layout::morph, 1e-5, true}));
  EXPECT_EQ(config.parallel, (ParallelConfig{Index3{2, 1, 3}, "mpi", 3, true, false, 7.5}));
  EXPECT_EQ(config.output, (OutputConfig{"out/heat", 100, Precision::fp64, 2, true}));
  EXPECT_EQ(config.diagnostics.every, 50);
  EXPECT_EQ(config.checkpoint, (CheckpointConfig{500, 12.5, 3, true}));
  EXPECT_TRUE(make_stencil(config.stencil, config.grid));
}

TEST(Config, TunesWhereItPaysUnlessToldOtherwise) {
  const auto tune = [](const std::string& value) {
    const RunConfig config = parse_config(least + value, "/inputs/case.toml");
    EXPECT_EQ(parse_config(to_toml(config), "/inputs/case.toml").compute, config.compute);
    return config.compute.tune;
  };
  EXPECT_EQ(tune(""), std::nullopt);
  EXPECT_EQ(tune("compute.tune = 'auto'"), std::nullopt);
  EXPECT_EQ(tune("compute.tune = true"), true);
  EXPECT_EQ(tune("compute.tune = false"), false);
}

TEST(Config, TakesWhatIsWrittenOnTheCommandLine) {
  const auto with = [](const std::vector<std::string>& overrides) {
    return parse_config(least, "/inputs/case.toml", overrides);
  };
  // A number given for a text is taken as it was written.
  EXPECT_EQ(with({"name=123"}).name, "123");
  EXPECT_EQ(with({"name=0x1F"}).name, "0x1F");
  EXPECT_EQ(with({"name=true"}).name, "true");
  EXPECT_EQ(with({"name=.5"}).name, ".5");
  EXPECT_EQ(std::get<ExpressionForm>(with({"initial.expression=18"}).initial).expression, "18");
  EXPECT_EQ(std::get<ExpressionForm>(with({"initial.expression='1.50'"}).initial).expression, "1.50");
  // These are numbers as C writes them.
  for (const auto& [written, value] : {std::pair(".002", 0.002), std::pair("-.5", -0.5), std::pair("3.", 3.0),
                                       std::pair("1.e-3", 1e-3), std::pair("+.5e1", 5.0)})
    EXPECT_EQ(with({std::string("grid.origin=[") + written + "]"}).grid.origin[x_axis], value) << written;
  EXPECT_EQ(with({"time.dt=.002"}).time.dt, 0.002);
  EXPECT_EQ(
      with({"boundary.x={low={dirichlet=.5},high={dirichlet=1.}}"}).grid.domain.faces[x_axis][high].value,
      1.0);
  const RunConfig heat = with({"stencil={preset='heat',diffusivity=[.5],dt=1.e-1}", "output.directory='.5'"});
  EXPECT_EQ(heat.time.dt, 0.1);
  EXPECT_EQ(heat.output.directory, ".5");
  EXPECT_EQ(with({"output.directory=out/.hidden"}).output.directory, "out/.hidden");
  EXPECT_EQ(with({"output.directory=run1."}).output.directory, "run1.");
  EXPECT_EQ(with({"output.directory=./a$5"}).output.directory, "./a$5");
}

TEST(Config, FillsInDefaults) {
  const RunConfig config = parse_config(least, "/inputs/wave1d.toml");
  EXPECT_EQ(config.name, "wave1d");
  EXPECT_EQ(config.grid.domain.shape, (Index3{1, 1, 9}));
  EXPECT_EQ(config.grid.domain.faces, Domain{}.faces);
  EXPECT_EQ(config.grid.spacing, (std::array{1.0, 1.0, 1.0}));
  EXPECT_EQ(config.source, std::nullopt);
  EXPECT_EQ(config.time, (TimeConfig{3, 1.0, {}, {}}));
  EXPECT_EQ(config.compute, ComputeConfig{});
  EXPECT_EQ(config.parallel, ParallelConfig{});
  EXPECT_EQ(config.output, (OutputConfig{"out/wave1d", 0, Precision::fp64, 1, {}}));
  EXPECT_EQ(config.checkpoint, (CheckpointConfig{0, {}, 2}));
}

TEST(Config, WritesReducedPrecisionsAsFloat) {
  for (const char* precision : {"fp32", "tf32", "bf16", "fp16"})
    EXPECT_EQ(parse_config(least, "a.toml", {std::string("compute.precision=") + precision}).output.precision,
              Precision::fp32);
}

TEST(Config, CentersWeightsAtHalfTheirExtent) {
  const auto form = [](const char* shape, const char* weights, const char* center) {
    std::vector<std::string> overrides{std::string("grid.shape=") + shape,
                                       std::string("stencil.weights=") + weights};
    if (*center) overrides.push_back(std::string("stencil.center=") + center);
    return std::get<WeightsForm>(parse_config(least, "a.toml", overrides).stencil);
  };
  EXPECT_EQ(form("[9]", "[1, 2.5]", ""), (WeightsForm{{1, 1, 2}, {1, 2.5}, {0, 0, 1}}));
  EXPECT_EQ(form("[9]", "[1, 2.5]", "[0]"), (WeightsForm{{1, 1, 2}, {1, 2.5}, {0, 0, 0}}));
  EXPECT_EQ(form("[9, 9]", "[[1, 2, 3], [4, 5, 6]]", ""),
            (WeightsForm{{1, 2, 3}, {1, 2, 3, 4, 5, 6}, {0, 1, 1}}));
  EXPECT_EQ(form("[9, 9, 9]", "[[[1, 2]], [[3, 4]], [[5, 6]]]", "[2, 0, 1]"),
            (WeightsForm{{3, 1, 2}, {1, 2, 3, 4, 5, 6}, {2, 0, 1}}));
}

TEST(Config, ResolvesEndToTheFewestSteps) {
  const auto steps = [](const char* dt, const char* end) {
    std::string text = everything;
    text.replace(text.find("steps = 1000"), 12, std::string("end = ") + end);
    return parse_config(text, "a.toml", {std::string("stencil.dt=") + dt}).time.steps;
  };
  EXPECT_EQ(steps("0.01", "10.0"), 1000);
  EXPECT_EQ(steps("0.1", "0.3"), 3);  // 0.3 / 0.1 is 2.9999999999999996
  EXPECT_EQ(steps("0.1", "0.7"), 7);  // 6.999999999999999
  EXPECT_EQ(steps("1e-5", "0.07"), 7000);
  EXPECT_EQ(steps("0.25", "0.75"), 3);
  EXPECT_EQ(steps("0.25", "0.7500001"), 4);
  EXPECT_EQ(steps("0.25", "1e-9"), 1);
}

TEST(Config, FacesTakeEveryForm) {
  const auto faces = [](const char* value) {
    return parse_config(least, "a.toml", {std::string("boundary.x=") + value}).grid.domain.faces[x_axis];
  };
  const Face periodic{}, neumann{BoundaryKind::neumann}, minus{BoundaryKind::dirichlet, -2.5};
  EXPECT_EQ(faces("periodic"), (std::array{periodic, periodic}));
  EXPECT_EQ(faces("neumann"), (std::array{neumann, neumann}));
  EXPECT_EQ(faces("{ dirichlet = -2.5 }"), (std::array{minus, minus}));
  EXPECT_EQ(faces("{ low = 'neumann', high = { dirichlet = -2.5 } }"), (std::array{neumann, minus}));
  EXPECT_EQ(faces("{ low = 'periodic', high = 'periodic' }"), (std::array{periodic, periodic}));
}

TEST(ConfigOverrides, ReplaceAndAddKeys) {
  const RunConfig config =
      parse_config(everything, "a.toml",
                   {"name=other name", "time.steps=7", "boundary.z.low.dirichlet=4",
                    "boundary.z.high=neumann", "boundary.y.low=neumann", "boundary.y.high.dirichlet=1",
                    "boundary.x={ dirichlet = 3 }", "initial.expression=exp(-x^2)", "compute.layout=auto",
                    "output.directory=\"a=b\"", "parallel.ranks=auto", "time.steps=8"});
  EXPECT_EQ(config.name, "other name");
  EXPECT_EQ(config.time.steps, 8) << "the last one holds";
  EXPECT_EQ(config.grid.domain.faces[z_axis],
            (std::array{Face{BoundaryKind::dirichlet, 4}, Face{BoundaryKind::neumann}}));
  EXPECT_EQ(config.grid.domain.faces[y_axis],
            (std::array{Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 1}}));
  EXPECT_EQ(config.grid.domain.faces[x_axis][high], (Face{BoundaryKind::dirichlet, 3}));
  EXPECT_EQ(config.initial, FieldForm(ExpressionForm{"exp(-x^2)"}));
  EXPECT_EQ(config.output.directory, "a=b");
  EXPECT_EQ(config.parallel.ranks, std::nullopt);
}

TEST(ConfigOverrides, MakeSectionsThatTheTextHasNot) {
  const RunConfig config =
      parse_config("", "a.toml",
                   {"grid.shape=[5,6]", "stencil.preset=star2d1r", "initial.file=u.h5", "initial.dataset=/u",
                    "time.steps=1", "boundary.y.low=neumann", "boundary.y.high.dirichlet=-1e-3"});
  EXPECT_EQ(config.grid.domain.faces[y_axis][high], (Face{BoundaryKind::dirichlet, -1e-3}));
  EXPECT_EQ(std::get<DatasetForm>(config.initial).file, fs::current_path() / "u.h5");
}

void expect_round_trip(const RunConfig& config) {
  const std::string text = to_toml(config);
  EXPECT_EQ(parse_config(text, "/some/where/else.toml"), config) << text;
  EXPECT_EQ(to_toml(parse_config(text, "b.toml")), text);
}

TEST(ToToml, ReadsBackTheSame) {
  expect_round_trip(parse_config(everything, "inputs/heat3d.toml"));
  expect_round_trip(parse_config(least, "least.toml"));
  expect_round_trip(parse_config(
      least, "a.toml",
      {"grid.shape=[3,4,5]", "stencil.weights=[[[1,2]],[[0.1,1e-300]]]", "stencil.center=[1,0,0]"}));
  expect_round_trip(parse_config(least, "odd \"name\\.toml", {"initial.expression=(x > 1) ? 1.0e0 : pi"}));
  expect_round_trip(
      parse_config(least, "a.toml", {"name=t\u00e4st \"quoted\" \\ back", "output.directory=C:\\tab\there"}));
  expect_round_trip(parse_config(
      "", "a.toml",
      {"grid.shape=[8]", "stencil.preset=advection-diffusion", "stencil.dt=0.1", "stencil.velocity=[2]",
       "stencil.diffusivity=0.3", "stencil.order=4", "initial.expression=x", "time.end=1"}));
  expect_round_trip(parse_config("", "a.toml",
                                 {"grid.shape=[8, 9]", "stencil.file=../w.h5", "stencil.dataset=/w",
                                  "initial.expression=x", "time.steps=0"}));
}

TEST(ToToml, KeepsEveryBitOfNumbers) {
  RunConfig config = parse_config(everything, "a.toml");
  for (const double value : {0.1, 1.0 / 3.0, std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::denorm_min(), 9007199254740993.0, 1e22, -0.0}) {
    config.grid.domain.faces[z_axis][low].value = value;
    const double again = parse_config(to_toml(config), "a.toml").grid.domain.faces[z_axis][low].value;
    EXPECT_EQ(std::signbit(again), std::signbit(value));
    EXPECT_EQ(again, value);
  }
}

TEST(NearestName, IsTheLeastEdited) {
  const std::vector<std::string> names{"steps", "end", "fuse", "precision"};
  EXPECT_EQ(nearest_name("step", names), "steps");
  EXPECT_EQ(nearest_name("setps", names), "steps");
  EXPECT_EQ(nearest_name("fues", names), "fuse");
  EXPECT_EQ(nearest_name("percision", names), "precision");
  EXPECT_EQ(nearest_name("boundary", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(10000, 'x'), names), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
}

}  // namespace
}  // namespace spsolve
