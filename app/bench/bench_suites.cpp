// SPDX-License-Identifier: Apache-2.0
#include "app/bench/bench_suites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "app/bench/random_cases.hpp"
#include "app/bench/systems_suite.hpp"
#include "io/input/read_problem.hpp"
#include "io/nearest_name.hpp"
#include "kernels/catalogue/catalogue.hpp"
#include "kernels/catalogue/presets.hpp"

namespace spsolve {
namespace {

constexpr const char* paper_shapes[]{"1d1r",     "1d2r",    "star2d1r", "box2d1r",
                                     "star2d3r", "box2d3r", "star3d1r", "box3d1r"};
constexpr Precision paper_precisions[]{Precision::fp16, Precision::fp32, Precision::fp64, Precision::bf16,
                                       Precision::tf32};

/// Returns a grid just large enough that the caches do not hold it, so that cases are quick.
Index3 default_shape(int dimensions, bool cuda) {
  if (dimensions == 1) return {1, 1, cuda ? 100'000'000 : 1 << 25};
  if (dimensions == 2) return cuda ? Index3{1, 10240, 10240} : Index3{1, 8192, 8192};
  return cuda ? Index3{1024, 1024, 1024} : Index3{512, 256, 256};
}

/// Returns the sizes that the papers measure on GPUs, and default_shape() on CPUs.
Index3 paper_shape(int dimensions, bool cuda) {
  if (cuda && dimensions == 1) return {1, 1, 10'240'000};
  return default_shape(dimensions, cuda);
}

/// Returns a grid just beyond the caches, for suites of very many cases.
Index3 small_shape(int dimensions, bool cuda) {
  if (dimensions == 1) return {1, 1, cuda ? 32'000'000 : 1 << 22};
  if (dimensions == 2) return cuda ? Index3{1, 5600, 5600} : Index3{1, 2048, 2048};
  return cuda ? Index3{320, 320, 320} : Index3{160, 160, 160};
}

/// Returns the sizes of the papers in 1D and 2D, and in 3D an eighth of theirs, for suites of many cases:
/// grids of 1024^3 points take longer to fill than to sweep.
Index3 quick_shape(int dimensions, bool cuda) {
  if (cuda && dimensions == 3) return {512, 512, 512};
  return paper_shape(dimensions, cuda);
}

/// Returns a cube of about `points` points.
Index3 cube_of(std::int64_t points) {
  const auto side = static_cast<std::int64_t>(std::llround(std::cbrt(static_cast<double>(points)) / 8)) * 8;
  return {side, side, side};
}

std::vector<BenchCase> scalar_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const char* stencil : paper_shapes)
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      cases.push_back(preset_case(stencil, default_shape(*preset_dimensions(stencil), cuda), precision));
      cases.back().plan.unit = UnitKind::scalar;
    }
  return cases;
}

std::vector<BenchCase> paper_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const Precision precision : paper_precisions)
    for (const char* stencil : paper_shapes)
      cases.push_back(preset_case(stencil, paper_shape(*preset_dimensions(stencil), cuda), precision));
  // Grids that take long to fill come last.
  std::stable_partition(cases.begin(), cases.end(),
                        [](const BenchCase& what) { return what.problem.domain.dimensions < 3; });
  return cases;
}

/// Returns cases from which the rates of a GPU are fitted.
std::vector<BenchCase> calibrate_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const Precision precision : {Precision::fp16, Precision::fp32, Precision::fp64, Precision::tf32})
    for (const char* stencil : {"1d1r", "1d2r", "star2d1r", "box2d1r", "star3d1r", "box3d1r"})
      cases.push_back(preset_case(stencil, quick_shape(*preset_dimensions(stencil), cuda), precision));
  return cases;
}

/// Returns cases on CUDA cores and by every layout with and without 2:4 sparsity, in single steps and at the
/// depth that the plan gives sparse tensor cores. Two boxes in fp16 follow in the same steps on smaller grids
/// (SparStencil, figure 7; SPIDER, figure 12).
std::vector<BenchCase> ablation_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  std::vector<std::tuple<std::string, Precision, int>> compared;  // with CUDA cores
  const auto offer = [&](BenchCase what, UnitKind unit, int fuse) {
    what.plan.unit = unit;
    what.plan.fuse = fuse;
    if (has_plan(what, cuda)) cases.push_back(what);
  };
  for (const char* stencil :
       {"1d1r", "star2d1r", "box2d1r", "box2d2r", "box2d3r", "box2d7r", "star3d1r", "box3d1r"})
    for (const Precision precision : {Precision::fp16, Precision::fp32}) {
      const BenchCase what = preset_case(stencil, quick_shape(*preset_dimensions(stencil), cuda), precision);
      for (const BenchCase& sparse : with_every_method(what, cuda)) {
        if (sparse.plan.unit != UnitKind::sparse_tensor) continue;
        std::set<int> depths{1, make_plan(sparse.problem, nominal(cuda), sparse.plan).chosen.fuse};
        for (const int fuse : depths) {
          const std::tuple scalar{stencil, precision, fuse};
          if (std::ranges::find(compared, scalar) == compared.end()) {
            compared.push_back(scalar);
            offer(what, UnitKind::scalar, fuse);
          }
          offer(sparse, UnitKind::tensor, fuse);
          offer(sparse, UnitKind::sparse_tensor, fuse);
        }
      }
    }
  const std::vector<BenchCase> on_large_grids = cases;
  for (const std::int64_t side : {256, 768, 1280, 2560, 5120})
    for (BenchCase what : on_large_grids) {
      if (what.problem.precision != Precision::fp16 ||
          (what.stencil != "box2d2r" && what.stencil != "box2d3r"))
        continue;
      what.problem.domain.shape = {1, side, side};
      cases.push_back(std::move(what));
    }
  return cases;
}

/// Returns cases by kernels of the solver, which are compared with the steps of measure_layouts().
std::vector<BenchCase> layouts_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  const auto offer = [&](const char* stencil, Precision precision, UnitKind unit,
                         std::optional<Layout> layout, int fuse) {
    PlanRequest plan;
    plan.unit = unit, plan.layout = layout, plan.fuse = fuse, plan.unpromised = true;
    cases.push_back(preset_case(stencil, paper_shape(*preset_dimensions(stencil), cuda), precision, plan));
  };
  if (!cuda) return cases;  // the steps before need a GPU
  for (const char* stencil : {"1d1r", "box2d1r"}) {
    offer(stencil, Precision::fp64, UnitKind::scalar, std::nullopt, 3);
    offer(stencil, Precision::fp64, UnitKind::tensor, Layout::natural_order, 3);
  }
  for (const char* stencil : {"box2d2r", "box2d3r"}) {
    offer(stencil, Precision::fp16, UnitKind::scalar, std::nullopt, 1);
    for (const UnitKind unit : {UnitKind::tensor, UnitKind::sparse_tensor})
      offer(stencil, Precision::fp16, unit, Layout::strided_swap, 1);
  }
  return cases;
}

/// Returns cases on grids from ones that caches hold to the largest that papers measure.
std::vector<BenchCase> sizes_suite(const BenchRequest&, bool cuda) {
  std::vector<const char*> stencils(std::begin(paper_shapes), std::end(paper_shapes));
  stencils.insert(stencils.end(), {"star2d2r", "box2d2r"});
  std::vector<BenchCase> cases;
  for (const Precision precision : {Precision::fp16, Precision::fp64})
    for (const char* stencil : stencils) {
      const int dimensions = *preset_dimensions(stencil);
      for (const std::int64_t side : {256, 512, 1024, 2048, 4096, 10240}) {
        if (!cuda && side > 4096) continue;
        Index3 shape{1, side, side};
        if (dimensions == 1) shape = {1, 1, side * side};
        if (dimensions == 3) shape = side == 10240 ? Index3{1024, 1024, 1024} : cube_of(side * side);
        cases.push_back(preset_case(stencil, shape, precision));
      }
    }
  return cases;
}

/// Returns the cases that public codes measure (bench/results/public-h200.json), at their depths and at the
/// depth of the plan.
std::vector<BenchCase> peers_suite(const BenchRequest&, bool cuda) {
  struct PublicCode {
    const char* stencil;
    Precision precision;
    std::vector<int> fuse;
  };
  const std::vector<PublicCode> codes{
      {"1d1r", Precision::fp16, {7}},           {"1d7r", Precision::fp16, {1}},
      {"box2d1r", Precision::fp16, {1, 7}},     {"box2d7r", Precision::fp16, {1}},
      {"box2d7r", Precision::fp32, {1}},        {"box2d7r", Precision::fp64, {1}},
      {"star2d1r", Precision::fp32, {9}},       {"star2d1r", Precision::fp64, {3, 12}},
      {"box2d1r", Precision::fp32, {1, 8}},     {"box2d1r", Precision::fp64, {1, 3, 6}},
      {"star2d2r", Precision::fp32, {8}},       {"star2d2r", Precision::fp64, {8}},
      {"box2d2r", Precision::fp32, {6}},        {"box2d2r", Precision::fp64, {4}},
      {"box2d3r", Precision::fp16, {1}},        {"box2d3r", Precision::fp32, {1}},
      {"box2d3r", Precision::fp64, {1}},        {"star3d1r", Precision::fp32, {8}},
      {"star3d1r", Precision::fp64, {1, 3, 8}}, {"box3d1r", Precision::fp16, {1}},
      {"box3d1r", Precision::fp32, {1, 6}},     {"box3d1r", Precision::fp64, {1, 3, 5}},
      {"1d1r", Precision::fp64, {3, 14}},       {"1d2r", Precision::fp64, {2}},
      {"star2d3r", Precision::fp64, {1}}};
  std::vector<BenchCase> cases;
  for (const PublicCode& code : codes) {
    const BenchCase planned =
        preset_case(code.stencil, paper_shape(*preset_dimensions(code.stencil), cuda), code.precision);
    for (const int fuse : code.fuse) {
      BenchCase equal = planned;
      equal.plan.fuse = fuse;
      if (has_plan(equal, cuda)) cases.push_back(equal);
    }
    cases.push_back(planned);
  }
  return cases;
}

/// Returns the six cases of paper 003, table 3, on every unit and layout at the depth of the paper.
std::vector<BenchCase> sweet_spot_suite(const BenchRequest&, bool cuda) {
  struct PaperCase {
    const char* stencil;
    int fuse;
    Precision precision;
  };
  std::vector<BenchCase> cases;
  for (const PaperCase& paper : {PaperCase{"box2d1r", 3, Precision::fp64},
                                 {"box2d3r", 1, Precision::fp64},
                                 {"box2d1r", 7, Precision::fp32},
                                 {"box2d7r", 1, Precision::fp32},
                                 {"box2d1r", 7, Precision::fp16},
                                 {"box2d7r", 1, Precision::fp16},
                                 {"box3d1r", 3, Precision::fp64},
                                 {"box3d1r", 7, Precision::fp32},
                                 {"box3d1r", 3, Precision::fp16}}) {
    const BenchCase what =
        preset_case(paper.stencil, paper_shape(*preset_dimensions(paper.stencil), cuda), paper.precision);
    for (BenchCase method : with_every_method(what, cuda)) {
      method.plan.fuse = paper.fuse;
      if (has_plan(method, cuda)) cases.push_back(method);
    }
  }
  return cases;
}

/// Returns two stars and two boxes at depths 1 to 8 by the layout of each unit that is fastest at its best
/// depth (paper 003, figures 10 and 15).
std::vector<BenchCase> depths_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const char* stencil : {"star2d1r", "box2d1r", "star3d1r", "box3d1r"})
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
      const BenchCase what = preset_case(stencil, quick_shape(*preset_dimensions(stencil), cuda), precision);
      std::set<UnitKind> seen;
      for (BenchCase method : with_every_method(what, cuda)) {  // the fastest first
        if (!seen.insert(*method.plan.unit).second) continue;
        for (method.plan.fuse = 1; *method.plan.fuse <= 8; ++*method.plan.fuse)
          if (has_plan(method, cuda)) cases.push_back(method);
      }
    }
  return cases;
}

/// Returns the cases with target rates (bench/targets.json): as planned, small boxes and stars in half
/// precision also seven steps at once.
std::vector<BenchCase> targets_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const Precision precision : {Precision::fp16, Precision::fp32, Precision::fp64}) {
    for (const char* stencil :
         {"1d1r", "box2d1r", "star2d1r", "box2d3r", "random2d7r", "star3d1r", "box3d1r"})
      cases.push_back(preset_case(stencil, paper_shape(*preset_dimensions(stencil), cuda), precision));
    cases.push_back(preset_case("1d1r", default_shape(1, cuda), precision));
  }
  for (const char* stencil : {"box2d1r", "star2d1r"})
    cases.push_back(preset_case(stencil, paper_shape(2, cuda), Precision::fp16, {.fuse = 7}));
  return cases;
}

/// Returns the benchmark shapes between walls.
std::vector<BenchCase> walls_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const BoundaryKind boundary : {BoundaryKind::dirichlet, BoundaryKind::neumann})
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
      for (const char* stencil :
           {"1d1r", "star2d1r", "box2d1r", "star2d2r", "box2d3r", "star3d1r", "box3d1r", "star3d2r"})
        cases.push_back(
            preset_case(stencil, small_shape(*preset_dimensions(stencil), cuda), precision, {}, boundary));
  return cases;
}

/// Returns the benchmark shapes with a source.
std::vector<BenchCase> sources_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
    for (const char* stencil : paper_shapes)
      cases.push_back(preset_case(stencil, small_shape(*preset_dimensions(stencil), cuda), precision, {},
                                  BoundaryKind::periodic, true));
  return cases;
}

/// Returns a case in the precision, between the walls and with or without the source that are asked for.
BenchCase asked_case(const BenchRequest& request, const std::string& stencil, const Index3& shape) {
  PlanRequest plan;
  ask(plan, request);
  return preset_case(stencil, shape, *parse_precision(request.precision.value_or("fp64")), plan,
                     *parse_boundary(request.boundary.value_or("periodic")), request.source);
}

std::vector<BenchCase> catalogue_suite(const BenchRequest& request, bool cuda) {
  std::vector<BenchCase> cases;
  for (const CatalogueEntry& entry : catalogue())
    cases.push_back(asked_case(request, entry.name, small_shape(entry.dimensions, cuda)));
  return cases;
}

/// Returns the shape that the request asks for, or else `shape`. Throws Error(invalid_input) if it does not
/// fit the stencil.
Index3 shape_or(Index3 shape, const BenchRequest& request, const std::string& stencil, int dimensions) {
  if (request.shape.empty()) return shape;
  if (request.shape.size() != static_cast<std::size_t>(dimensions))
    throw Error(Status::invalid_input, fmt::format("--shape: {} extents given, {} has {}",
                                                   request.shape.size(), stencil, dimensions));
  if (!has_volume_within(request.shape, max_points))
    throw Error(Status::invalid_input, "--shape: more than 2^48 points");
  std::ranges::copy(request.shape, shape.end() - dimensions);
  return shape;
}

BenchCase single_case(const BenchRequest& request, bool cuda) {
  const std::string stencil = request.stencil.empty() ? "star2d1r" : request.stencil;
  const auto dimensions = preset_dimensions(stencil);
  if (!dimensions && find_preset(stencil))
    throw Error(Status::invalid_input,
                fmt::format("--stencil {}: is a preset with parameters, which an input gives it: use --input",
                            stencil));
  if (!dimensions)
    throw Error(
        Status::invalid_input,
        fmt::format("--stencil {}: there is no such stencil{}wanted a benchmark shape such as star3d1r, or a "
                    "name of the catalogue (--list)",
                    stencil, did_you_mean(stencil, preset_names())));
  return asked_case(request, stencil,
                    shape_or(default_shape(*dimensions, cuda), request, stencil, *dimensions));
}

/// Returns whether two cases are the same measurement.
bool are_same(const BenchCase& one, const BenchCase& other) {
  const auto what = [](const BenchCase& each) {
    return std::tie(each.stencil, each.problem.domain, each.problem.precision, each.problem.has_source,
                    each.plan.unit, each.plan.layout, each.plan.fuse, each.plan.unpromised,
                    each.plan.strided);
  };
  return what(one) == what(other);
}

/// Returns the cases that match the request, on grids of its shape. Of cases that are then equal only the
/// first is kept. What a case leaves open to the plan is set as the request says.
std::vector<BenchCase> narrowed(const std::vector<BenchCase>& cases, const BenchRequest& request) {
  const auto has_walls = [](const Domain& domain, std::string_view kind) {
    return std::all_of(domain.faces.begin() + domain.first_axis(), domain.faces.end(),
                       [&](const auto& faces) {
                         return to_string(faces[low].kind) == kind && to_string(faces[high].kind) == kind;
                       });
  };
  const auto differ = [](const auto& of_case, const auto& asked) {
    return of_case && asked && of_case != asked;
  };
  std::vector<BenchCase> kept;
  for (BenchCase what : cases) {
    const PlanRequest& plan = what.plan;
    if ((!request.stencil.empty() && what.stencil != request.stencil) ||
        (request.precision && to_string(what.problem.precision) != *request.precision) ||
        (request.boundary && !has_walls(what.problem.domain, *request.boundary)) ||
        (request.source && !what.problem.has_source) || differ(plan.unit, parse_unit_kind(request.unit)) ||
        differ(plan.layout, parse_layout(request.layout)) ||
        (request.fuse && plan.fuse.value_or(*request.fuse) != *request.fuse))
      continue;
    ask(what.plan, request);
    Domain& domain = what.problem.domain;
    domain.shape = shape_or(domain.shape, request, what.stencil, domain.dimensions);
    if (std::ranges::none_of(kept, [&](const BenchCase& other) { return are_same(other, what); }))
      kept.push_back(what);
  }
  if (kept.empty())
    throw Error(Status::invalid_input,
                fmt::format("--suite {}: {}", request.suite,
                            cases.empty() ? "has no cases without a GPU, whose tensor cores it measures"
                                          : "none of its cases matches the other options"));
  return kept;
}

}  // namespace

const std::vector<BenchSuite>& bench_suites() {
  static const std::vector<BenchSuite> suites{
      {"ceilings", "what memory, instructions and a sparse GEMM deliver, and exchanges between ranks",
       nullptr},
      {"gemm", "a sparse GEMM with one optimisation after another, fp16 and e4m3 (--shape M,N,K)", nullptr},
      {"calibrate",
       "rates of this GPU by the model, from ceilings and the paper suite; plans take them from then on",
       calibrate_suite},
      {"scalar", "the scalar unit on the eight benchmark shapes, fp64 and fp32", scalar_suite},
      {"paper", "the eight benchmark shapes in every precision (--candidates 8: on every unit and layout)",
       paper_suite},
      {"ablation",
       "CUDA cores, and tensor cores with and without 2:4 sparsity, staging, layouts, sizes of grids",
       ablation_suite},
      {"layouts", "im2row, stencil2row and natural order in fp64, bands from memory and staged in fp16",
       layouts_suite},
      {"sizes", "the eight benchmark shapes, star2d2r and box2d2r in fp16 and fp64 on grids of all sizes",
       sizes_suite},
      {"peers", "the cases of public codes at their depths and at the depth of the plan", peers_suite},
      {"sweet-spot", "the cases of the sweet-spot analysis with the model's C, M, I, alpha, S and scenario",
       sweet_spot_suite},
      {"depths", "two stars and two boxes at depths 1 to 8 on every unit", depths_suite},
      {"targets", "the cases with target rates", targets_suite},
      {"walls", "benchmark shapes between dirichlet and neumann walls", walls_suite},
      {"sources", "benchmark shapes with a source", sources_suite},
      {"random", "problems made from --seed: any stencil, grid, precision, walls",
       [](const BenchRequest& request, bool cuda) { return random_cases(request.seed, cuda); }},
      {"systems",
       "systems of equations by every unit and layout, at every depth (narrow it, as by --stencil wave2_2d)",
       systems_suite},
      {"catalogue", "every stencil of the catalogue (--list), in --precision", catalogue_suite}};
  return suites;
}

DeviceModel nominal(bool cuda) { return cuda ? nominal_gpu() : nominal_cpu(); }

std::vector<BenchCase> with_every_method(const BenchCase& what, bool cuda) {
  std::vector<BenchCase> cases;
  std::vector<std::pair<UnitKind, std::optional<Layout>>> seen;
  std::vector<Candidate> candidates = make_plan(what.problem, nominal(cuda), {}).candidates;
  std::ranges::sort(candidates, {}, &Candidate::seconds);
  for (const Candidate& candidate : candidates) {
    const std::pair method{candidate.unit, candidate.layout};
    if (std::ranges::find(seen, method) != seen.end()) continue;
    seen.push_back(method);
    cases.push_back(what);
    cases.back().plan.unit = candidate.unit;
    cases.back().plan.layout = candidate.layout;
    cases.back().plan.unpromised = true;
  }
  return cases;
}

bool has_plan(const BenchCase& what, bool cuda) {
  try {
    make_plan(what.problem, nominal(cuda), what.plan);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void ask(PlanRequest& plan, const BenchRequest& request) {
  if (const auto unit = parse_unit_kind(request.unit)) plan.unit = unit;
  if (const auto layout = parse_layout(request.layout)) {
    plan.layout = layout;
    plan.unpromised = true;
  }
  if (request.fuse) plan.fuse = request.fuse;
}

std::vector<BenchCase> cases_of(const BenchRequest& request, bool cuda) {
  if (request.suite.empty()) return {single_case(request, cuda)};
  std::vector<std::string_view> names;
  if (!request.shape.empty() && (request.stencil.empty() || !preset_dimensions(request.stencil)))
    throw Error(Status::invalid_input,
                fmt::format("--shape: --suite {} has shapes of its own; give --stencil too, which must be a "
                            "benchmark shape or of the catalogue, or leave --shape out",
                            request.suite));
  for (const BenchSuite& suite : bench_suites()) {
    if (suite.name == request.suite && suite.cases) return narrowed(suite.cases(request, cuda), request);
    names.push_back(suite.name);
  }
  throw Error(Status::invalid_input, fmt::format("--suite {}: there is no such suite; use {}", request.suite,
                                                 fmt::join(names, ", ")));
}

}  // namespace spsolve
