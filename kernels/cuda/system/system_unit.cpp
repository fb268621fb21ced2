// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/system_unit.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/error.hpp"
#include "kernels/operator/scalar_values.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sampling.hpp"

namespace spsolve::cuda {
namespace {

constexpr int threads_of_points = 256;
constexpr std::int64_t max_blocks_of_points = 1 << 20;
constexpr std::int64_t max_blocks = (std::int64_t{1} << 31) - 1;  // blocks of a launch
constexpr std::int64_t max_paced = 1 << 18;                       // counters of a paced march
constexpr long long max_extent = 1 << 30;  // extent of a grid that marches count in 32 bits

/// Returns true if a march of this number of planes loads few planes before the first that it computes. On
/// grids of 4 to 32 planes of 512^2 points, pace was faster from 12 planes on with order 2, and slower up to
/// 16 planes with order 8 (docs/log/systems.md).
bool is_long_march(const SystemTile& tile, std::int64_t planes) { return planes >= 4 * (tile.warm_up() + 1); }

}  // namespace

SystemUnit::SystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt, Precision precision,
                       std::vector<const Field*> coefficients, cudaStream_t stream, SystemUnitOptions options)
    : canonical_(canonical),
      facts_(facts_of(canonical)),
      fields_(std::move(fields)),
      dt_(dt),
      coefficients_(std::move(coefficients)),
      stream_(stream),
      on_scalars_(std::move(options.on_scalars)),
      walls_(std::move(options.walls)),
      kernels_(options.kernels),
      arrivals_(max_paced * sizeof(unsigned)) {
  precision = format_of(precision);
  const DeviceInfo device = current_device();
  limits_ = device.block_limits();
  check_cuda(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.bytes(), stream));
  const KernelCompiler compiler(device.architecture());
  for (const auto& [first, last] : facts_.groups) {
    auto made = group_of_statements(first, last, precision, options.tile, compiler);
    if (const auto* none = std::get_if<NoKernel>(&made)) refuse_step(*none);
    groups_.push_back(std::get<GroupKernels>(std::move(made)));
  }
  if (options.fuse > 1) make_fused(options.fuse, precision, compiler, options.tile, options.has_points);
  if (groups_.size() < 2 || fields_.front().dimensions < 2 || kernels_ == SystemKernels::points) return;
  auto made = group_of_statements(0, static_cast<int>(canonical.equations.size()), precision, options.tile,
                                  compiler, Without::points);
  if (auto* all = std::get_if<GroupKernels>(&made); all && all->tile) united_.emplace(std::move(*all));
}

OrNoKernel<SystemUnit::GroupKernels> SystemUnit::group_of_statements(int first, int last, Precision precision,
                                                                     const std::optional<SystemTile>& given,
                                                                     const KernelCompiler& compiler,
                                                                     Without without) const {
  auto made = SystemProgram::make(canonical_, fields_, first, last, precision);
  if (auto* none = std::get_if<NoKernel>(&made)) return std::move(*none);
  auto& program = std::get<SystemProgram>(made);
  std::optional<SystemTile> tile;
  if (kernels_ != SystemKernels::points) tile = program.tile(limits_, given);
  if (tile && !suits(*tile, region_of(fields_.front().box(), grid_axes(fields_.front())))) tile.reset();
  std::optional<Kernel> points, march;
  if (without != Without::points)
    points.emplace(compiler.begin("kernels/cuda/system/point_group.cuh", program.point_constants()),
                   "point_group");
  if (tile)
    march.emplace(
        compiler.begin("kernels/cuda/system/march_group.cuh", program.march_constants(*tile, limits_)),
        "march_group", static_cast<std::size_t>(tile->shared_bytes));
  return GroupKernels{std::move(program), std::move(tile), std::move(points), std::move(march)};
}

void SystemUnit::make_fused(int steps, Precision precision, const KernelCompiler& compiler,
                            const std::optional<SystemTile>& given, bool has_points) {
  OrNoKernel<FusedTile> made = fused_tile(canonical_, facts_, fields_, precision, steps, limits_, given,
                                          walls_ ? walls_->faces() : std::vector<FilledFace>());
  if (const auto* none = std::get_if<NoKernel>(&made))
    throw Error(InputKey{"time", "fuse"},
                " = " + std::to_string(steps) + ": no kernel does this: " + none->why);
  FusedTile tile = std::get<FusedTile>(std::move(made));
  tile.has_points = has_points;
  auto program = required(
      SystemProgram::make(canonical_, fields_, 0, static_cast<int>(canonical_.equations.size()), precision));
  Kernel march(compiler.begin("kernels/cuda/system/march_steps.cuh", program.fused_constants(tile, limits_)),
               "march_steps", static_cast<std::size_t>(tile.tile.shared_bytes));
  fused_.emplace(FusedKernel{std::move(program), std::move(tile), std::move(march)});
}

void SystemUnit::advance_fused(const ConstState& in, const State& out, const Box& region) const {
  const FusedTile& fused = fused_->tile;
  std::vector<double> scalars;
  for (int step = 0; step < fused.steps; ++step)
    for (const double value : scalar_values(canonical_, dt_, in.step() + step)) scalars.push_back(value);
  if (!scalars.empty() && on_scalars_) on_scalars_();
  GroupFields fields = fields_of(fused_->program.group(), in, out);
  for (std::size_t i = fields_.size(); i < out.size(); ++i) fields.outputs.push_back(&out[i]);
  HostArguments a =
      fused_->program.arguments(fields, std::vector<Box>(fields.outputs.size(), region), scalars);
  const std::int64_t resident = std::int64_t{limits_.multiprocessors} * fused.tile.blocks;
  fused_->program.place_fused_tiles(a, fields, fused, resident);
  clear(fields, fused_->program.ghosts_in_copies(a, fields));
  if (points_) set_point_arguments(a, in.step());
  if (limits_.copy_engine()) set_maps(a, fields, fused.tile);
  if (fused.tile.pace_lag > 0) set_pace(a, resident, fused.warm_up());
  fused_->march.launch(static_cast<unsigned>(a.shares.blocks()),
                       static_cast<unsigned>(fused.tile.all_threads(limits_)),
                       static_cast<std::size_t>(fused.tile.shared_bytes), stream_, a);
}

void SystemUnit::set_point_arguments(HostArguments& a, std::int64_t step) const {
  if (on_scalars_) on_scalars_();
  if (step + fused_->tile.steps > last_recorded_step)
    throw Error(InputKey{"time", "fuse"}, ": launches of several steps work on points up to step " +
                                              std::to_string(last_recorded_step) + "; take single steps");
  auto list = std::ranges::find_if(point_lists_, [&](const PointList& known) {
    return std::ranges::equal(known.region.begin, a.region.begin) &&
           std::ranges::equal(known.region.end, a.region.end);
  });
  if (list == point_lists_.end()) {
    const TilePointList made =
        tile_points(points_->table(), a, fused_->tile, grid_axes(fields_.front()), canonical_.fields);
    list = point_lists_.insert(list, {a.region, to_device(made.first_iteration, stream_),
                                      to_device(made.iterations, stream_), to_device(made.first, stream_),
                                      to_device(made.events, stream_), to_device(made.columns, stream_)});
  }
  a.points = {static_cast<const int*>(list->first_iteration.data()),
              static_cast<const int*>(list->iterations.data()),
              static_cast<const int*>(list->first.data()),
              static_cast<const PointEvent*>(list->events.data()),
              static_cast<const int*>(list->columns.data()),
              points_->amounts(step),
              static_cast<long long>(points_->table().columns),
              points_->groups(),
              {},
              static_cast<unsigned>(step)};
  const auto& groups = points_->groups_on_host();
  std::copy_n(groups.begin(), std::min<std::size_t>(groups.size(), few_groups), a.points.first_groups);
}

void SystemUnit::set_maps(HostArguments& a, const GroupFields& fields, const SystemTile& tile) const {
  for (std::size_t i = 0; i < fields.inputs.size(); ++i) {
    const auto element = static_cast<int>(storage_bytes(fields.inputs[i]->precision()));
    a.array[i].map =
        make_tensor_map({view_of(a.array[i], element), element, tile.rings[i].rows, tile.rings[i].pitch});
  }
}

void SystemUnit::clear(const GroupFields& fields, const std::vector<Box>& ghosts) const {
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    if (ghosts[i].empty()) continue;
    const Field& field = *fields.inputs[i];
    const Index3 extent = ghosts[i].extent();
    const std::size_t element = storage_bytes(field.precision());
    // Other launches may clear the same points at the same time: nobody reads or writes anything but zeros
    // there.
    auto* const first = const_cast<std::byte*>(field.bytes_at(ghosts[i].begin));
    check_cuda(cudaMemset2DAsync(first, static_cast<std::size_t>(field.pitch()) * element, 0,
                                 static_cast<std::size_t>(extent[x_axis]) * element,
                                 static_cast<std::size_t>(extent[z_axis] * extent[y_axis]), stream_));
  }
}

void SystemUnit::fill_ghosts(const State& state, const Box& valid) const {
  if (!walls_ || valid.empty()) return;
  if (walls_->changes() && on_scalars_) on_scalars_();
  // `.next`, which advance() fills, is one step later.
  walls_->provide(state.front(), state.step() - 1, state.step() + 1);
  Box known = fields_.front().clip_to_walls(state.front().allocated());
  for (const int axis : {z_axis, y_axis}) {
    known.begin[axis] = valid.begin[axis];
    known.end[axis] = valid.end[axis];
  }
  std::vector<FieldAtStep> arrays;
  std::size_t previous = fields_.size();
  for (std::size_t field = 0; field < fields_.size(); ++field) {
    const bool has_previous = !facts_.reach_previous[field].empty();
    const std::size_t before = has_previous ? previous++ : previous;
    if (!walls_->fills(field)) continue;
    arrays.push_back({static_cast<int>(field), &state[field], state.step()});
    if (has_previous) arrays.push_back({static_cast<int>(field), &state[before], state.step() - 1});
  }
  walls_->fill(arrays, known, stream_);
}

void SystemUnit::fill_between_groups(const SystemGroup& group, const State& out,
                                     const std::vector<Box>& boxes, std::int64_t step) const {
  if (!walls_ || group.last == static_cast<int>(boxes.size())) return;
  if (walls_->changes() && on_scalars_) on_scalars_();
  for (int s = group.first; s < group.last; ++s) {
    const auto field = static_cast<std::size_t>(canonical_.fields[s]);
    if (!walls_->fills(field)) continue;
    const FieldAtStep computed{static_cast<int>(field), &out[field], step};
    walls_->fill({&computed, 1}, boxes[static_cast<std::size_t>(s)], stream_);
  }
}

void SystemUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (region.empty()) return;
  if (fused_ && steps == fused_->tile.steps) return advance_fused(in, out, region);
  if (steps != 1)
    throw std::invalid_argument("this unit has no kernel that takes " + std::to_string(steps) +
                                " steps of equations");
  const std::vector<double> scalars = scalar_values(canonical_, dt_, in.step());
  if (!scalars.empty() && on_scalars_) on_scalars_();
  const Box united = united_region(region);
  if (united.empty()) return advance_groups(in, out, region, scalars);
  const SystemGroup& statements = united_->program.group();
  const GroupFields fields = fields_of(statements, in, out);
  launch(*united_, fields, std::vector<Box>(static_cast<std::size_t>(statements.statements()), united),
         scalars);
  for_each_slab(region, united, [&](const Box& slab) { advance_groups(in, out, slab, scalars); });
}

void SystemUnit::advance_groups(const ConstState& in, const State& out, const Box& region,
                                const std::vector<double>& scalars) const {
  const std::vector<Box> boxes = statement_boxes(facts_, fields_.front(), region);
  for (const GroupKernels& group : groups_) {
    const SystemGroup& statements = group.program.group();
    launch(group, fields_of(statements, in, out),
           {boxes.begin() + statements.first, boxes.begin() + statements.last}, scalars);
    fill_between_groups(statements, out, boxes, in.step() + 1);
  }
}

Box SystemUnit::united_region(const Box& region) const {
  if (!united_) return {};
  const Box inner = region_of_united_groups(facts_, fields_, region);
  return !inner.empty() && suits(*united_->tile, region_of(inner, grid_axes(fields_.front()))) ? inner
                                                                                               : Box{};
}

GroupFields SystemUnit::fields_of(const SystemGroup& group, const ConstState& in, const State& out) const {
  std::vector<std::size_t> previous(fields_.size());  // by field: index of its previous values in states
  std::size_t next = fields_.size();
  for (std::size_t field = 0; field < fields_.size(); ++field)
    if (!facts_.reach_previous[field].empty()) previous[field] = next++;
  GroupFields fields;
  for (const GroupInput& input : group.inputs) {
    const auto index = static_cast<std::size_t>(input.index);
    fields.inputs.push_back(input.is_coefficient             ? coefficients_[index]
                            : input.level == Level::next     ? &out[index]
                            : input.level == Level::previous ? &in[previous[index]]
                                                             : &in[index]);
  }
  for (int s = group.first; s < group.last; ++s)
    fields.outputs.push_back(&out[static_cast<std::size_t>(canonical_.fields[s])]);
  return fields;
}

void SystemUnit::launch(const GroupKernels& group, const GroupFields& fields, const std::vector<Box>& boxes,
                        const std::vector<double>& scalars) const {
  HostArguments a = group.program.arguments(fields, boxes, scalars);
  const auto points = static_cast<std::int64_t>(a.region.extent(0) * a.region.extent(1) * a.region.extent(2));
  if (points == 0) return;
  if (!group.tile || !suits(*group.tile, a.region)) {
    const std::int64_t parts = ceil_div<std::int64_t>(a.region.extent(2), threads_of_points);
    const std::int64_t blocks_of_rows =
        parts * a.region.extent(1) * ceil_div<std::int64_t>(a.region.extent(0), point_planes);
    const bool in_rows = a.region.extent(2) >= threads_of_points / 2 && blocks_of_rows < max_blocks;
    if (in_rows) a.column_tiles = static_cast<int>(parts);
    const std::int64_t blocks =
        in_rows ? blocks_of_rows : std::min(ceil_div(points, threads_of_points), max_blocks_of_points);
    return group.points->launch(static_cast<unsigned>(blocks), threads_of_points, 0, stream_, a);
  }
  const SystemTile& tile = *group.tile;
  const std::int64_t resident = std::int64_t{limits_.multiprocessors} * tile.blocks;
  group.program.place_tiles(a, fields, tile, resident);
  clear(fields, group.program.ghosts_in_copies(a, fields));
  if (limits_.copy_engine()) set_maps(a, fields, tile);
  // Short marches end before pace pays for itself. Marches of slabs at the edge of a block also start at
  // different times, because the interior still occupies the device.
  if (tile.pace_lag > 0 && is_long_march(tile, a.shares.longest())) set_pace(a, resident, tile.warm_up());
  group.march->launch(static_cast<unsigned>(a.shares.blocks()),
                      static_cast<unsigned>(tile.all_threads(limits_)),
                      static_cast<std::size_t>(tile.shared_bytes), stream_, a);
}

/// Lets the blocks of a march wait for one another, if there are enough counters.
void SystemUnit::set_pace(HostArguments& a, std::int64_t resident, int warm_up) const {
  const std::int64_t waves = ceil_div<std::int64_t>(a.shares.blocks(), resident),
                     groups = a.shares.slabs() + a.shares.stretches;
  if ((waves + groups) * (a.shares.longest() + warm_up + 1) > max_paced) return;
  a.arrivals = static_cast<unsigned*>(arrivals_.data());
  a.resident = static_cast<int>(resident);
}

/// Returns whether tiles are good for a region. Boxes that are thin across the march would leave most threads
/// of a tile idle. In 2D a plane is one row, too little to be worth the warm-up of short marches.
bool SystemUnit::suits(const SystemTile& tile, const Region& region) const {
  for (int axis = 0; axis < axis_count; ++axis)
    if (region.begin[axis] <= -max_extent || region.end[axis] >= max_extent) return false;
  return kernels_ == SystemKernels::marches ||
         (region.extent(column_axis) >= tile.columns / 2 && region.extent(row_axis) >= tile.rows() / 2 &&
          (fields_.front().dimensions == 3 || is_long_march(tile, region.extent(plane_axis))));
}

}  // namespace spsolve::cuda
