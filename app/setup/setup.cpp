// SPDX-License-Identifier: Apache-2.0
#include "app/setup/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/setup/distribution.hpp"
#include "app/setup/host_memory.hpp"
#include "app/setup/terminal.hpp"
#include "io/array_reader.hpp"
#include "io/expression.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

/// Calls what reads the dataset of a section; errors name the key as well.
template <class Read>
void reading(const std::string& section, Read&& read) try {
  read();
} catch (const Error& error) {
  throw Error(error.status(), fmt::format("{}.file: {}", section, error.what()));
}

/// Hands the values on `box` to `sink`, which several threads may call at once. Collective. All
/// ranks throw if one finds an error.
void read_values(const Communicator& communicator, const Setup& setup, const FieldForm& form,
                 const char* section, const Box& box, const ValueSink& sink) {
  const Grid& grid = setup.config.grid;
  if (const auto* expression = std::get_if<ExpressionForm>(&form)) {
    collectively(communicator, [&] {
      Expression{expression->expression, fmt::format("{}.expression", section)}.evaluate(grid, box, sink);
    });
  } else {
    const auto& source = std::get<DatasetForm>(form);
    reading(section, [&] { read_boxes(communicator, source.file, source.dataset, grid.domain, box, sink); });
  }
}

/// require_memory() of this rank.
void require_memory_here(const Setup& setup, int ranks_here, bool use_devices) {
  const MemoryNeed need = memory_need(setup);
  const double host =
      static_cast<double>(need.copies) + (setup.device.cuda ? 0.0 : static_cast<double>(need.fields));
  require_host_memory(host, ranks_here, use_devices, setup.device.cuda ? " for files on their way" : "",
                      setup.background ? ", or output.background = false" : "");
  require_device_memory(setup.device, need.fields, use_devices);
}

bool fits_here(const Setup& setup, int ranks_here, bool use_devices) try {
  require_memory_here(setup, ranks_here, use_devices);
  return true;
} catch (const Error&) {
  return false;
}

/// What to say where halos are too deep for memory: the key that makes them so, and how much of it fits.
/// Empty where there is too little memory without them.
std::string halos_that_fit(const Setup& setup, int ranks_here, bool use_devices) {
  const int first = setup.problem.domain.first_axis();
  const Index3 block = setup.decomposition.block(0).extent();
  const Index3 halo = setup.halo();
  Setup thinner = setup;
  for (const auto& [key, value] : {std::pair{"[parallel] exchange_every", &thinner.exchange_every},
                                   std::pair{"[time] fuse", &thinner.plan.chosen.fuse}}) {
    const int wanted = *value;
    while (*value > 1) {
      --*value;
      if (fits_here(thinner, ranks_here, use_devices))
        return fmt::format("{} = {} needs halos of {} points around blocks of {}, and at most {} fits: ", key,
                           wanted, fmt::join(halo.begin() + first, halo.end(), " x "),
                           fmt::join(block.begin() + first, block.end(), " x "), *value);
    }
  }
  return "";
}

}  // namespace

Sampling Setup::for_snapshots() const {
  const Precision file = config.output.precision, state = problem.precision;
  return {config.output.stride, storage_bytes(file) < storage_bytes(state) ? file : state};
}

Stencil read_stencil(const Communicator& communicator, const RunConfig& config) {
  std::optional<Stencil> stencil;
  collectively(communicator, [&] {
    stencil = inline_stencil(config);
    if (stencil) return;
    const auto& source = std::get<DatasetForm>(config.stencil);
    reading("stencil",
            [&] { stencil = read_weights(source.file, source.dataset, config.grid.domain.dimensions); });
  });
  return *stencil;
}

Problem problem_of(const Communicator& communicator, const RunConfig& config) {
  return {config.grid.domain, read_stencil(communicator, config), config.compute.precision,
          config.source.has_value()};
}

void require_walls_in_range(const Problem& problem) {
  with_storage(problem.precision, [&]<class Storage>() {
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Face& face : problem.domain.faces[axis])
        if (!std::isfinite(stored_value(to_storage<Storage>(face.value))))
          throw Error(Status::invalid_input,
                      fmt::format("[boundary] {}: dirichlet = {} is beyond the range of {}", "zyx"[axis],
                                  face.value, to_string(problem.precision)));
  });
}

Setup make_setup(const Communicator& communicator, const RunConfig& config,
                 const std::optional<KeptPlan>& continued, const std::optional<DeviceModel>& model,
                 std::optional<int> ranks) {
  Problem problem = problem_of(communicator, config);
  const DeviceChoice device = model ? DeviceChoice{.cuda = model->gpu,
                                                   .of_rank = model->name + ", " + model->origin,
                                                   .model = model->name,
                                                   .note = {}}
                                    : choose_device(communicator, config.compute, config.parallel);
  const DeviceModel modelled = model ? *model : device_model(device);
  ContinuedRequest request{plan_request(config)};
  if (continued) request = continue_plan(request.request, modelled, *continued);
  Plan plan;
  try {
    plan = agreed_plan(communicator, problem, modelled, request.request);
  } catch (const Error&) {
    if (!continued || !config.compute.accuracy) throw;
    const auto precision = request.request.precision;
    request = {plan_request(config),
               fmt::format("planned anew: at this pace of events the plan so far errs by more than "
                           "compute.accuracy = {:g}",
                           *config.compute.accuracy)};
    request.request.precision = precision;
    plan = agreed_plan(communicator, problem, modelled, request.request);
  }
  problem.precision = plan.chosen.precision;
  require_walls_in_range(problem);
  const bool background = config.output.background.value_or(device.cuda) && threads_may_communicate();
  const auto [decomposition, exchange_every] = distribute(communicator, ranks.value_or(communicator.size()),
                                                          config.parallel, problem, plan.chosen, device);
  return {config, problem, device, plan, request.note, decomposition, exchange_every, background};
}

std::map<std::string, ValueFacts> check_datasets(const Communicator& communicator, const Setup& setup) {
  const int rank = communicator.rank();
  const Box block = rank < setup.decomposition.ranks() ? setup.decomposition.block(rank) : Box{};
  std::map<std::string, ValueFacts> facts;
  const auto look_at = [&](const FieldForm& form, const char* section) {
    ValueSummary summary(setup.problem.domain.shape);
    ReadingProgress reading(communicator, fmt::format("looking at [{}]", section), block.points());
    read_values(communicator, setup, form, section, block,
                [&](const Index3& begin, std::span<const double> values) {
                  summary.add(begin, values);
                  reading.advance(std::ssize(values));
                });
    facts[section] = summary.of_all(communicator);
  };
  look_at(setup.config.initial, "initial");
  if (setup.config.source) look_at(*setup.config.source, "source");
  return facts;
}

std::optional<ValueFacts> facts_of(const Communicator& communicator, const Grid& grid,
                                   const DatasetForm& dataset) try {
  // Cut slabs across the slowest axis with a point for each rank, or across the longest axis if there is
  // none.
  const Index3& shape = grid.domain.shape;
  const auto enough =
      std::ranges::find_if(shape, [&](std::int64_t points) { return points >= communicator.size(); });
  const auto axis = (enough != shape.end() ? enough : std::ranges::max_element(shape)) - shape.begin();
  Box slab = grid.domain.box();
  slab.begin[axis] = shape[axis] * communicator.rank() / communicator.size();
  slab.end[axis] = shape[axis] * (communicator.rank() + 1) / communicator.size();
  ValueSummary summary(shape);
  read_boxes(communicator, dataset.file, dataset.dataset, grid.domain, slab,
             [&](const Index3& begin, std::span<const double> values) { summary.add(begin, values); });
  return summary.of_all(communicator);
} catch (const Error&) {
  return std::nullopt;
}

ValueFacts fill(const Communicator& communicator, const Setup& setup, const FieldForm& form,
                const char* section, Field& field) {
  ValueSummary summary(setup.problem.domain.shape);
  with_storage(field.precision(), [&]<class Storage>() {
    read_values(communicator, setup, form, section, field.owned(),
                [&](const Index3& begin, std::span<const double> values) {
                  summary.add(begin, values);
                  std::ranges::transform(values, field.at<Storage>(begin), to_storage<Storage>);
                });
  });
  return summary.of_all(communicator);
}

MemoryNeed memory_need(const Setup& setup) {
  const Sampling snapshot = setup.for_snapshots(), checkpoint = setup.for_checkpoints();
  const std::size_t of_snapshot = copy_bytes(setup.decomposition, snapshot);
  const std::size_t of_checkpoint = copy_bytes(setup.decomposition, checkpoint);
  std::size_t copies = (setup.background ? background_copies : 1) * of_snapshot;
  if (snapshot != checkpoint) copies += of_checkpoint;
  // A CPU run that waits for its files writes the state itself where no points are left out.
  if (!setup.device.cuda && !setup.background) copies = snapshot.stride > 1 ? of_snapshot : 0;
  if (setup.device.cuda && setup.problem.has_source)  // passes through host memory as well, before all files
    copies = std::max(copies, copy_bytes(setup.decomposition, {1, sum_precision(setup.problem.precision)}));
  return {block_bytes(setup.problem, setup.decomposition, setup.plan.chosen, setup.exchange_every), copies};
}

void require_memory(const Communicator& communicator, const Setup& setup, bool use_devices) {
  const int ranks_here = ranks_on_this_machine(communicator);
  collectively(communicator, [&] {
    try {
      require_memory_here(setup, ranks_here, use_devices);
    } catch (const Error& error) {
      throw Error(error.status(), halos_that_fit(setup, ranks_here, use_devices) + error.what());
    }
  });
}

}  // namespace spsolve
