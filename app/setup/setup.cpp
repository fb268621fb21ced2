// SPDX-License-Identifier: Apache-2.0
#include "app/setup/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "app/machine/host_memory.hpp"
#include "app/setup/distribution.hpp"
#include "app/setup/state_copies.hpp"
#include "app/setup/walls.hpp"
#include "halo/collectively.hpp"
#include "halo/machine.hpp"
#include "halo/mpi_session.hpp"
#include "io/array_reader.hpp"
#include "io/input/read_equations.hpp"
#include "io/input/read_stencil.hpp"
#include "kernels/operator/linearity.hpp"
#include "solver/block.hpp"
#include "solver/block_memory.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {
namespace {

/// Returns the stencil of `section`, which is read if a file holds it.
Stencil stencil_of(const StencilForm& form, const Grid& grid, const std::string& section) {
  if (const auto stencil = make_stencil(form, grid)) return *stencil;
  const auto& source = std::get<DatasetForm>(form);
  try {
    return read_weights(source.file, source.dataset, grid.domain.dimensions);
  } catch (const Error& error) {
    throw Error(error.status(), error_prefix_of(source, section) + error.what());
  }
}

/// Returns checksums of the weights of [stencils] that lie in files.
ValueChecksums checksums_of_stencils(const RunConfig& config, const Stencils& stencils) {
  ValueChecksums checksums;
  if (config.equations)
    for (const auto& [name, form] : config.equations->stencils)
      if (std::holds_alternative<DatasetForm>(form))
        checksums[key_of_stencil(name)] = checksum_of(stencils.at(name));
  return checksums;
}

/// Does the part of require_memory() that concerns this rank.
void require_memory_here(const Setup& setup, int ranks_here, bool use_devices) {
  const MemoryNeed need = memory_need(setup);
  const double host =
      static_cast<double>(need.copies + need.sums + need.walls + (setup.device.cuda ? 0 : need.fields));
  require_host_memory(host, ranks_here, use_devices, setup.device.cuda ? " for files on their way" : "",
                      setup.background ? ", or output.background = false" : "");
  require_device_memory(setup.device, need.fields, use_devices);
}

bool has_points(const RunConfig& config) { return !config.point_sources.empty() || !config.probes.empty(); }

bool fits_here(const Setup& setup, int ranks_here, bool use_devices) try {
  require_memory_here(setup, ranks_here, use_devices);
  return true;
} catch (const Error&) {
  return false;
}

/// Names the key that makes halos deeper than memory, and the rest of a sentence about it.
struct DeepHalos {
  InputKey key;
  std::string advice;
};

/// Returns advice if halos are too deep for memory: the key that makes them so, and the largest value that
/// fits. Returns nothing if memory does not suffice without halos.
std::optional<DeepHalos> halos_that_fit(const Setup& setup, int ranks_here, bool use_devices) {
  const int first = setup.problem.domain.first_axis();
  const Index3 block = setup.decomposition.block(0).extent();
  const Index3 halo = setup.halo();
  Setup thinner = setup;
  for (const auto& [key, value] : {std::pair{InputKey{"parallel", "exchange_every"}, &thinner.exchange_every},
                                   std::pair{InputKey{"time", "fuse"}, &thinner.plan.chosen.fuse}}) {
    const int wanted = *value;
    while (*value > 1) {
      --*value;
      if (fits_here(thinner, ranks_here, use_devices))
        return DeepHalos{
            key, fmt::format(" = {} needs halos of {} points around blocks of {}, and at most {} fits: ",
                             wanted, fmt::join(halo.begin() + first, halo.end(), " x "),
                             fmt::join(block.begin() + first, block.end(), " x "), *value)};
    }
  }
  return std::nullopt;
}

/// Returns the value that a wall, whose values do not depend on time, gives to its first ghost points beside
/// points of zero: the one that is farthest from zero, or one that is not finite.
double largest_ghost(const Domain& domain, const FilledFace& face) {
  const std::int64_t lines = face.varies_along_face ? domain.shape[face.slow_axis()] : 1;
  const std::int64_t points = face.varies_along_face ? domain.shape[face.line_axis()] : 1;
  double least = 0, most = 0;
  bool any_nan = false;
#pragma omp parallel reduction(min : least) reduction(max : most) reduction(|| : any_nan)
  {
    std::vector<double> line(static_cast<std::size_t>(points));
#pragma omp for
    for (std::int64_t i = 0; i < lines; ++i) {
      Index3 first{};
      first[face.slow_axis()] = i;
      face.evaluate(first, 0, line);
      for (const double value : line) {
        const double ghost = face.factor(0) * value;
        least = std::min(least, ghost);
        most = std::max(most, ghost);
        any_nan = any_nan || std::isnan(ghost);
      }
    }
  }
  if (any_nan) return std::numeric_limits<double>::quiet_NaN();
  return -least > most ? least : most;
}

/// Returns the format of copies of a state in host memory that a file with the precision `file` is written
/// from.
Precision narrower(Precision file, Precision state) {
  return storage_bytes(file) < storage_bytes(state) ? file : state;
}

/// Gives a field plain faces in place of filled ones if they are all neumann or dirichlet, as with no flux.
void fill_only_where_needed(std::vector<Domain>& domains, std::vector<FilledFace>& filled) {
  for (std::size_t field = 0; field < domains.size(); ++field) {
    const int number = static_cast<int>(field);
    const Domain plain = with_plain_faces(domains[field], filled, number);
    if (plain.has_filled_faces() || plain.has_faces(BoundaryKind::value)) continue;
    domains[field] = plain;
    std::erase_if(filled, [&](const FilledFace& face) { return face.field == number; });
  }
}

}  // namespace

Sampling Setup::for_snapshots() const {
  return {config.output.stride, narrower(config.output.precision, problem.precision)};
}

Sampling Setup::for_outputs(const OutputStreamConfig& output) const {
  return {output.stride, narrower(output.precision, problem.precision)};
}

Stencils read_stencils(const Communicator& communicator, const RunConfig& config) {
  Stencils stencils;
  collectively(communicator, [&] {
    if (!config.states_equations()) {
      stencils.try_emplace("w", stencil_of(config.stencil, config.grid, "stencil"));
      return;
    }
    for (const auto& [name, form] : config.equations->stencils)
      stencils.try_emplace(name, stencil_of(form, config.grid, key_of_stencil(name)));
  });
  return stencils;
}

Problem problem_of(const RunConfig& config, Tables& tables, const Stencils& stencils, bool keep_equations) {
  const Precision precision = config.compute.precision;
  if (config.equations) {
    std::vector<Domain> domains = domains_of(*config.equations, config.grid);
    const Canonical canonical =
        canonical_form(system_of(*config.equations, config.grid, config.time.dt, stencils));
    std::vector<FilledFace> filled = filled_faces(tables, config);
    fill_only_where_needed(domains, filled);
    // Launches of several steps of a stencil cannot add point sources between steps; those of equations can.
    const bool as_equations =
        keep_equations || !filled.empty() || (!config.point_sources.empty() && precision != Precision::tf32);
    if (const auto stencil = single_stencil(canonical); stencil && !as_equations)
      return {domains.front(), *stencil, precision, false, nullptr, canonical.field_names.front()};
    Problem problem = system_problem(
        std::make_shared<const Equations>(canonical, domains, config.time.dt, std::move(filled)), precision);
    // Only sweeps of constant weights on tensor cores round operands to tf32.
    problem.has_points = has_points(config);
    const auto strided = strided_equation(problem);
    if (const auto* why = std::get_if<std::string>(&strided); why && precision == Precision::tf32)
      throw Error(
          InputKey{"compute", "precision"},
          fmt::format(" = \"tf32\" is for one linear equation with constant weights, of one time level or "
                      "two, which tensor cores can take: {}; take fp64, fp32, fp16 or bf16",
                      *why));
    return problem;
  }
  return {config.grid.domain, stencils.at("w"), precision, config.source.has_value(), nullptr, "u"};
}

Problem problem_of(const Communicator& communicator, const RunConfig& config) {
  Tables tables(communicator);
  return problem_of(config, tables, read_stencils(communicator, config));
}

std::string checksum_of(const Canonical& canonical) {
  std::string text = text_of(canonical);
  for (const CanonicalNode& node : canonical.nodes) {
    text += fmt::format(" {}:{:a}", static_cast<int>(node.kind), node.number);
    for (const ChainLink& link : node.links)
      text += fmt::format(" {}:{}", link.node, checksum_of(link.stencil));
  }
  for (TermId id = 0; id < canonical.terms.size(); ++id)
    text += fmt::format(" {:a}", canonical.terms[id].number);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string checksum_of(const Problem& problem) {
  return problem.equations ? checksum_of(problem.equations->canonical) : checksum_of(problem.stencil);
}

std::string key_of_stencil(const std::string& name) { return "stencils." + name; }

void require_walls_in_range(const Problem& problem) {
  const auto require = [&](std::size_t field, int axis, double value, const std::string& what) {
    const bool fits = with_storage(problem.precision, [&]<class Storage>() {
      return std::isfinite(stored_value(to_storage<Storage>(value)));
    });
    if (!fits)
      throw Error(InputKey{"boundary", axis_names[axis]},
                  fmt::format("{}: {} is beyond the range of {}",
                              problem.equations ? " of the field " + problem.field_name(field) : "", what,
                              to_string(problem.precision)));
  };
  for (std::size_t field = 0; field < problem.field_count(); ++field)
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Face& face : problem.domain_of(field).faces[axis])
        require(field, axis, face.value, fmt::format("dirichlet = {}", face.value));
  if (!problem.equations) return;
  for (const FilledFace& face : problem.equations->filled) {
    if (face.varies_in_time) continue;
    const double ghost = largest_ghost(problem.domain, face);
    require(static_cast<std::size_t>(face.field), face.axis, ghost,
            fmt::format("the ghost value {} at the {} wall", ghost, face.side == low ? "low" : "high"));
  }
}

std::vector<double> numbers_of(const Problem& problem) {
  std::vector<double> numbers;
  const auto add = [&](const Stencil& stencil) {
    for (const Tap& tap : stencil.taps()) numbers.push_back(tap.weight);
  };
  if (!problem.equations) {
    add(problem.stencil);
    return numbers;
  }
  for (const CanonicalNode& node : problem.equations->canonical.nodes) {
    if (node.kind == NodeKind::number) numbers.push_back(node.number);
    for (const ChainLink& link : node.links) add(link.stencil);
  }
  return numbers;
}

void require_numbers_in_range(const Problem& problem, const RunConfig& config) {
  if (sum_precision(problem.precision) == Precision::fp64) return;
  const auto is_beyond = [](double number) {
    return std::isfinite(number) && std::isinf(stored_value(to_storage<float>(number)));
  };
  const std::vector<double> numbers = numbers_of(problem);
  const auto found = std::ranges::find_if(numbers, is_beyond);
  if (found == numbers.end()) return;
  std::string constants;
  if (config.equations)
    for (const auto& [name, value] : config.equations->constants)
      if (is_beyond(value))
        constants += fmt::format("{}{} = {:g}", constants.empty() ? " (in [constants] " : ", ", name, value);
  if (!constants.empty()) constants += ")";
  throw Error(config.states_equations() ? InputKey{"equations", "step"} : InputKey{"stencil", "weights"},
              fmt::format(": the number {:g}{} is beyond the range of fp32, in which sums of {} are taken; "
                          "[compute] precision = \"fp64\" holds it",
                          *found, constants, to_string(problem.precision)));
}

namespace {

/// Holds an input, its problem, and a plan of it.
struct PlannedProblem {
  RunConfig config;
  Problem problem;
  Plan plan;
  std::string note;  // why a former plan was not kept, or Plan::note
};

PlannedProblem planned(const Communicator& communicator, const RunConfig& config, Problem problem,
                       const DeviceModel& device, const std::optional<StoredPlan>& continued) {
  problem.has_points = has_points(config);
  ContinuedRequest request{plan_request(config, problem)};
  if (continued) request = continue_plan(request.request, problem, device, *continued);
  Plan plan;
  try {
    plan = agreed_plan(communicator, problem, device, request.request);
  } catch (const Error&) {
    if (!continued || !config.compute.accuracy) throw;
    const auto precision = request.request.precision;
    request = {plan_request(config, problem),
               fmt::format("planned anew: with these events the plan so far errs by more than "
                           "compute.accuracy = {:g}",
                           *config.compute.accuracy)};
    request.request.precision = precision;
    plan = agreed_plan(communicator, problem, device, request.request);
  }
  problem.precision = plan.chosen.precision;
  const std::string& note = request.note.empty() ? plan.note : request.note;
  return {config, problem, plan, note};
}

/// Plans a problem with points that a stencil may advance. Launches of equations work on points after each of
/// their steps, those of a stencil end there, so a stencil is launched as its equation where several steps
/// per launch are faster than what it does itself. On CPUs they are not: there equations with points take
/// single steps.
PlannedProblem planned_with_points(const Communicator& communicator, const RunConfig& config, Tables& tables,
                                   const Stencils& stencils, const Problem& problem,
                                   const DeviceModel& device, const std::optional<StoredPlan>& continued) {
  const bool several = !config.point_sources.empty() && config.time.fuse.value_or(1) > 1;
  const bool is_wanted = several || !continued || continued->of_equations;
  std::optional<PlannedProblem> equations;
  if (device.gpu && is_wanted && config.compute.precision != Precision::tf32) try {
      RunConfig stated = config;
      if (!stated.equations) stated.equations = equations_of_stencil(config);
      equations =
          planned(communicator, stated, problem_of(stated, tables, stencils, true), device, continued);
    } catch (const Error& error) {  // it is the same on every rank
      if (several || error.status() != Status::invalid_input) throw;
    }
  if (equations && (several || continued)) return *equations;
  // A former plan of the equations says nothing about the stencil.
  const bool is_continued = continued && !continued->of_equations;
  PlannedProblem stencil =
      planned(communicator, config, problem, device, is_continued ? continued : std::nullopt);
  if (!equations || equations->plan.chosen.fuse == 1) return stencil;
  const bool is_faster = equations->plan.chosen.seconds < stencil.plan.chosen.seconds;
  PlannedProblem& chosen = is_faster ? *equations : stencil;
  const PlannedProblem& other = is_faster ? stencil : *equations;
  chosen.plan.reasons.push_back(
      fmt::format("instead of: {}: {:.4g} GStencil/s with {} per launch",
                  is_faster ? "a stencil, whose launches end where points are added or recorded"
                            : "equations, whose launches add and record after each of their steps",
                  1e-9 / other.plan.chosen.seconds, counted(other.plan.chosen.fuse, "step")));
  return chosen;
}

}  // namespace

Setup make_setup(const Communicator& communicator, const RunConfig& config, Tables& tables,
                 const std::optional<StoredPlan>& continued, const std::optional<DeviceModel>& model,
                 std::optional<int> ranks) {
  const Stencils stencils = read_stencils(communicator, config);
  const Problem stated = problem_of(config, tables, stencils);
  const DeviceChoice device = model ? DeviceChoice{.cuda = model->gpu,
                                                   .of_rank = model->name + ", " + model->origin,
                                                   .model = model->name,
                                                   .note = {}}
                                    : choose_device(communicator, config.compute, config.parallel);
  const DeviceModel modelled = model ? *model : device_model(device);
  const PlannedProblem found =
      has_points(config) && !stated.equations
          ? planned_with_points(communicator, config, tables, stencils, stated, modelled, continued)
          : planned(communicator, config, stated, modelled, continued);
  require_walls_in_range(found.problem);
  require_numbers_in_range(found.problem, config);
  const bool background = config.output.background.value_or(device.cuda) && threads_may_communicate();
  const auto [decomposition, exchange_every] =
      distribute(communicator, ranks.value_or(communicator.size()), config.parallel, found.problem,
                 found.plan.chosen, device);
  return {found.config,  found.problem,
          device,        found.plan,
          found.note,    checksum_of(stated),
          decomposition, exchange_every,
          background,    checksums_of_stencils(config, stencils)};
}

bool sums_use(const RunConfig& config, const std::string& name) {
  return std::ranges::any_of(config.diagnostics.sums,
                             [&](const auto& sum) { return uses_any(sum.second, {name}); });
}

MemoryNeed memory_need(const Setup& setup) {
  std::size_t copies = bytes_of_state_copies(setup, setup.background ? background_copies : 1);
  if (setup.device.cuda && setup.problem.has_source)  // passes through host memory as well, before all files
    copies = std::max(copies, copy_bytes(setup.decomposition, {1, sum_precision(setup.problem.precision)}));
  MemoryNeed need{block_bytes(setup.problem, setup.decomposition, setup.plan.chosen, setup.exchange_every),
                  copies};
  if (!setup.config.diagnostics.sums.empty()) {
    const Index3 block = setup.decomposition.block(0).extent();
    need.sums = field_bytes(block, {}, Precision::fp64);
    if (setup.config.equations) {
      const auto& coefficients = setup.config.equations->coefficients;
      if (std::ranges::any_of(coefficients, [&](const auto& k) { return sums_use(setup.config, k.name); }))
        need.sums += coefficients.size() * static_cast<std::size_t>(volume(block)) * sizeof(double);
    }
  }
  if (setup.problem.equations && !setup.problem.equations->filled.empty()) {
    const Index3 halo = setup.halo();
    const BytesOfWalls walls = bytes_of_walls(setup.config, setup.problem.equations->filled,
                                              setup.decomposition.block(0).extent() + halo + halo);
    need.walls = walls.datasets + (setup.device.cuda ? walls.staging : 0);
    if (setup.device.cuda) need.fields += walls.device;
  }
  return need;
}

void require_memory(const Communicator& communicator, const Setup& setup, bool use_devices) {
  const int ranks_here = ranks_on_this_machine(communicator);
  collectively(communicator, [&] {
    try {
      require_memory_here(setup, ranks_here, use_devices);
    } catch (const Error& error) {
      const auto halos = halos_that_fit(setup, ranks_here, use_devices);
      if (!halos) throw;
      throw Error(error.status(), halos->key.text() + halos->advice + error.what(), halos->key);
    }
  });
}

}  // namespace spsolve
