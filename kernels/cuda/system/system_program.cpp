// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/system_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/error.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// Returns text as comments, line by line.
std::string commented(const std::string& text) {
  std::string result = "// ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A backslash at the end of a line would continue the comment.
    result += text[i] == '\\' ? '/' : text[i];
    if (text[i] == '\n' && i + 1 < text.size()) result += "// ";
  }
  return result + "\n";
}

SystemArray memory_of(const Field& field, const std::array<int, 3>& axes) {
  const View view = view_of(field, axes);
  const auto element = static_cast<std::int64_t>(storage_bytes(field.precision()));
  std::int64_t before = 0;
  SystemArray array{};
  for (int k = 0; k < axis_count; ++k) {
    before += view.begin[k] * view.stride[k];
    array.begin[k] = view.begin[k];
    array.end[k] = view.end[k];
  }
  array.data = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(view.data) - before * element);
  array.stride[0] = view.stride[plane_axis];
  array.stride[1] = view.stride[row_axis];
  return array;
}

/// Returns the smallest range of offsets that holds those of an input along an axis.
std::pair<int, int> reach(const GroupInput& input, int axis) {
  std::pair<int, int> range{input.offsets.front()[axis], input.offsets.front()[axis]};
  for (const auto& offset : input.offsets) {
    range.first = std::min(range.first, offset[axis]);
    range.second = std::max(range.second, offset[axis]);
  }
  return range;
}

}  // namespace

OrNoKernel<SystemProgram> SystemProgram::make(const Canonical& canonical, const std::vector<Domain>& fields,
                                              int first, int last, Precision precision) {
  auto made = group_of(canonical, fields, first, last, grid_axes(fields.front()));
  if (auto* none = std::get_if<NoKernel>(&made)) return std::move(*none);
  return SystemProgram(canonical, fields, std::get<SystemGroup>(std::move(made)), precision);
}

SystemProgram::SystemProgram(const Canonical& canonical, const std::vector<Domain>& fields, SystemGroup group,
                             Precision precision)
    : fields_(fields),
      precision_(precision),
      axes_(grid_axes(fields.front())),
      group_(std::move(group)),
      comment_(commented(text_of(canonical))),
      scalars_(static_cast<int>(canonical.scalars.size())),
      fields_of_statements_(canonical.fields.begin() + group_.first, canonical.fields.begin() + group_.last) {
}

Beyond SystemProgram::beyond(const GroupInput& input, int axis, Side side) const {
  if (input.is_coefficient) return Beyond::memory;
  const BoundaryKind kind = fields_[input.index].faces[axes_[axis]][side].kind;
  return kind == BoundaryKind::dirichlet ? Beyond::value
         : kind == BoundaryKind::neumann ? Beyond::reflection
                                         : Beyond::memory;
}

double SystemProgram::face_value(const GroupInput& input, int axis, Side side) const {
  return as_stored(fields_[input.index].faces[axes_[axis]][side].value, precision_);
}

bool SystemProgram::copies_zeros(const GroupInput& input, int axis) const {
  return !input.is_coefficient && has_zero_walls(fields_[input.index], axes_[axis], precision_);
}

std::optional<SystemTile> SystemProgram::tile(const BlockLimits& limits,
                                              const std::optional<SystemTile>& given) const {
  GhostAxes ghosts;
  for (const GroupInput& input : group_.inputs) {
    ghosts.emplace_back();
    for (int axis = 0; axis < axis_count; ++axis)
      ghosts.back()[axis] = beyond(input, axis, low) != Beyond::memory && !copies_zeros(input, axis);
  }
  if (given) {
    SystemTile tile = *given;
    lay_out(tile, group_, precision_, ghosts);
    return fits(tile, limits) ? std::optional(tile) : std::nullopt;
  }
  return choose_tile(group_, fields_.front().dimensions, precision_, ghosts, limits);
}

std::string SystemProgram::point_constants() const { return constants(nullptr, 0); }
std::string SystemProgram::march_constants(const SystemTile& tile, const BlockLimits& limits) const {
  return constants(&tile, tile.all_threads(limits));
}

SystemProgram::InputWalls SystemProgram::walls_of(const GroupInput& input) const {
  InputWalls walls;
  for (int axis = 0; axis < axis_count; ++axis)
    for (const Side side : {low, high}) {
      walls.beyond[axis][side] = beyond(input, axis, side);
      if (walls.beyond[axis][side] == Beyond::value) walls.value[axis][side] = face_value(input, axis, side);
    }
  return walls;
}

void SystemProgram::add_walls(ConstantsText& text, const char* name, const char* value_name,
                              const std::string& count, const std::vector<InputWalls>& all) {
  constexpr std::array names{"memory", "value", "reflection"};
  std::string beyond, values;
  for (const InputWalls& walls : all) {
    beyond += "{";
    values += "{";
    for (int axis = 0; axis < axis_count; ++axis) {
      beyond += "{";
      values += "{";
      for (const Side side : {low, high}) {
        const auto there = static_cast<std::size_t>(walls.beyond[axis][side]);
        beyond.append("Beyond::").append(names[there]).append(", ");
        values.append("Compute(").append(ConstantsText::number(walls.value[axis][side])).append("), ");
      }
      beyond += "}, ";
      values += "}, ";
    }
    beyond += "}, ";
    values += "}, ";
  }
  text.line(std::string("__device__ constexpr Beyond ") + name + count + "[3][2] = {" + beyond + "};");
  text.line(std::string("__device__ constexpr Compute ") + value_name + count + "[3][2] = {" + values + "};");
}

std::string SystemProgram::fused_constants(const FusedTile& fused, const BlockLimits& limits) const {
  return constants(&fused.tile, fused.tile.all_threads(limits), &fused, fused.registers(limits));
}

void SystemProgram::add_reads(ConstantsText& text, const FusedTile& fused) const {
  std::vector<std::array<int, 4>> reads;
  std::vector<int> plane_low, planes_before, leads;
  int planes = 0, rows = 0, columns = 0;
  for (std::size_t i = 0; i < group_.inputs.size(); ++i) {
    const InputRing& ring = fused.tile.rings[i];
    plane_low.push_back(ring.low[plane_axis]);
    planes_before.push_back(planes);
    planes += ring.high[plane_axis] - ring.low[plane_axis] + 1;
    leads.push_back(ring.lead);
    for (const auto& [plane, row, column] : group_.inputs[i].offsets) {
      if (!fused.splits) reads.push_back({static_cast<int>(i), plane, row, column});
      rows = std::max(rows, std::abs(row));
      columns = std::max(columns, std::abs(column));
    }
  }
  if (fused.splits)
    for (const auto& [input, offset] : group_.split->finish_reads)
      reads.push_back({input, offset[0], offset[1], offset[2]});
  const std::string inputs = std::string("[").append(std::to_string(group_.inputs.size())).append("]");
  text.line(
      "// All reads but those that begin sums: input, plane, row and column. By input: its oldest plane that "
      "is read, how many planes of the inputs before are read, and the columns of its ring before those of "
      "the tile.");
  text.table("reads", std::string("[").append(std::to_string(reads.size())).append("][4]").c_str(), reads);
  const auto add_others = [&](const char* name, const std::optional<KeptGroup>& group) {
    std::vector<std::array<int, 4>> of_group;
    if (group)
      for (const auto& [input, offset] : group->reads)
        of_group.push_back({input, offset[0], offset[1], offset[2]});
    else
      of_group = reads;
    text.table(name, std::string("[").append(std::to_string(of_group.size())).append("][4]").c_str(),
               of_group);
  };
  text.line(
      "// The same where levels keep values of planes, and where threads also take values from others.");
  add_others("kept_reads", group_.kept);
  add_others("taken_reads", group_.taken);
  text.table("plane_low", inputs.c_str(), plane_low);
  text.table("read_planes_before", inputs.c_str(), planes_before);
  text.table("ring_lead", inputs.c_str(), leads);
  text.integer("read_planes", planes);
  text.integer("beside_rows", rows);
  text.integer("beside_columns", columns);
}

void SystemProgram::add_constants_of_levels(ConstantsText& text, const FusedTile& fused) const {
  text.integer("steps", fused.steps);
  text.integer("lag", fused.lag());
  text.integer("columns_of_thread", fused.tile.columns_of_thread);
  text.integer("margin_rows", fused.margin(row_axis));
  text.integer("margin_columns", fused.margin(column_axis));
  text.integer("useful_columns", fused.useful_columns);
  text.integer("reach_planes", fused.reach[plane_axis]);
  text.integer("reach_rows", fused.reach[row_axis]);
  text.integer("reach_columns", fused.reach[column_axis]);
  text.integer("scalars", scalars_);
  text.flag("has_points", fused.has_points);
  text.flag("has_walls_across", std::any_of(fields_.begin(), fields_.end(), [&](const Domain& field) {
              return !field.periodic(axes_[row_axis]) || !field.periodic(axes_[column_axis]);
            }));
  text.flag("level_0_in_ring", fused.tile.level_0_in_ring);
  text.flag("splits", fused.splits);
  text.flag("mirrors", fused.mirrors);
  text.integer("sums", fused.sums);
  text.integer("kept", fused.kept);
  text.integer("taken", fused.taken);
  text.integer("moved_planes", fused.moved_planes);
  text.integer("level_lag", fused.level_lag());
  text.integer("level_planes", fused.level_planes);
  text.integer("rows_behind", fused.rows_behind);
  text.flag("shares_levels",
            std::ranges::any_of(fused.levels, [](const LevelRings& level) { return level.pitch > 0; }));
  add_reads(text, fused);
  std::vector<int> statement_of, is_previous, statement_of_output;
  for (const GroupInput& input : group_.inputs) {
    const auto statement = std::find(fields_of_statements_.begin(), fields_of_statements_.end(), input.index);
    statement_of.push_back(
        input.is_coefficient ? -1 : static_cast<int>(statement - fields_of_statements_.begin()));
    is_previous.push_back(input.level == Level::previous);
  }
  for (int s = 0; s < group_.statements(); ++s) statement_of_output.push_back(s);
  for (const int s : fused.written_before(fields_of_statements_)) statement_of_output.push_back(s);
  const std::string inputs = std::string("[").append(std::to_string(group_.inputs.size())).append("]");
  text.line("// By input: the statement that advances the field.");
  text.table("statement_of", inputs.c_str(), statement_of);
  text.table("is_previous", inputs.c_str(), is_previous);
  text.table("statement_of_output", "[outputs]", statement_of_output);
  add_rings_of_levels(text, fused);
  add_walls_of_levels(text, fused);
}

void SystemProgram::add_rings_of_levels(ConstantsText& text, const FusedTile& fused) {
  text.line("// By statement: what is held of its levels.");
  const auto table = [&](const char* name, auto&& value) {
    std::vector<int> values;
    for (const LevelRings& level : fused.levels) values.push_back(value(level));
    text.table(name, "[statements]", values);
  };
  table("input_of", [](const LevelRings& level) { return level.input; });
  table("is_read_before", [](const LevelRings& level) { return int{level.is_read_before}; });
  table("queue_low", [](const LevelRings& level) { return level.low; });
  table("begin_low", [](const LevelRings& level) { return level.begin_low; });
  table("old_offset", [](const LevelRings& level) { return level.old_offset; });
  table("level_rows", [](const LevelRings& level) { return level.rows; });
  table("level_columns", [](const LevelRings& level) { return level.columns; });
  table("level_stored_rows", [](const LevelRings& level) { return level.stored_rows; });
  table("level_pitch", [](const LevelRings& level) { return level.pitch; });
  table("level_plane_bytes", [](const LevelRings& level) { return level.plane_bytes; });
  table("level_offset", [](const LevelRings& level) { return level.offset; });
}

void SystemProgram::add_walls_of_levels(ConstantsText& text, const FusedTile& fused) const {
  std::vector<InputWalls> walls;
  for (const int field : fields_of_statements_) {
    walls.push_back(walls_of({.index = field}));
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Side side : {low, high})
        if (fields_[field].faces[axes_[axis]][side].kind == BoundaryKind::filled)
          walls.back().beyond[axis][side] = Beyond::reflection;
  }
  add_walls(text, "wall", "wall_value", "[statements]", walls);
  std::vector<int> has_one_value;
  for (const InputWalls& of_field : walls) {
    const double value = of_field.value[plane_axis][low];
    bool has = of_field.beyond[plane_axis][low] == Beyond::value;
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Side side : {low, high}) {
        const double other = of_field.value[axis][side];
        has = has && (of_field.beyond[axis][side] == Beyond::memory ||
                      (of_field.beyond[axis][side] == Beyond::value && other == value &&
                       std::signbit(other) == std::signbit(value)));
      }
    has_one_value.push_back(has);
  }
  text.line(
      "// By statement: whether both ends of the march have a value, and all other walls the same one.");
  text.table("has_one_value", "[statements]", has_one_value);
  const int layers = std::max(1, fused.reach[plane_axis]);
  std::string is_filled, scales, given;
  const auto number = [](double value) { return "Compute(" + ConstantsText::number(value) + "), "; };
  for (const int field : fields_of_statements_)
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Side side : {low, high}) {
        const auto face = std::ranges::find_if(fused.filled, [&](const FilledFace& one) {
          return one.field == field && one.axis == axes_[axis] && one.side == side;
        });
        const bool exists = face != fused.filled.end();
        std::array<double, 1> c{};
        if (exists) face->evaluate({}, 0, c);
        is_filled += exists ? "true, " : "false, ";
        for (int layer = 0; layer < layers; ++layer) {
          scales += number(exists ? face->scale(layer) : 1);
          given += number(exists ? face->factor(layer) * c[0] : 0);
        }
      }
  text.line(
      "// By statement, axis and side: whether the face is filled. By layer beyond it: ghost points are a");
  text.line("// scale times what they mirror, and a given number more.");
  const std::string of_layers = "[statements][3][2][" + std::to_string(layers) + "]";
  text.line("__device__ constexpr bool is_filled[statements][3][2] = {" + is_filled + "};");
  text.line("__device__ constexpr Compute filled_scale" + of_layers + " = {" + scales + "};");
  text.line("__device__ constexpr Compute filled_given" + of_layers + " = {" + given + "};");
}

void SystemProgram::add_constants_of_tile(ConstantsText& text, const SystemTile& tile,
                                          const std::string& count, bool is_fused) const {
  text.integer("tile_columns", tile.columns);
  text.integer("thread_rows", tile.thread_rows);
  text.integer("rows_of_thread", tile.rows_of_thread);
  text.integer("threads", tile.threads());
  text.flag("loads_itself", tile.loads_itself());
  text.integer("ghost_warps", tile.ghost_warps);
  text.integer("blocks", tile.blocks);
  text.integer("ahead", tile.ahead);
  text.integer("pace_lag", tile.pace_lag);
  text.integer("warm_up", tile.warm_up());
  std::string zeros;
  for (const GroupInput& input : group_.inputs) {
    zeros += "{";
    for (int axis = 0; axis < axis_count; ++axis) zeros += copies_zeros(input, axis) ? "true, " : "false, ";
    zeros += "}, ";
  }
  text.line("// Is true where copies fill ghost points: [array][axis].");
  text.line("__device__ constexpr bool copies_zeros" + count + "[3] = {" + zeros + "};");
  const auto table = [&](const char* name, auto&& value) {
    std::vector<int> values;
    for (const InputRing& ring : tile.rings) values.push_back(value(ring));
    text.table(name, count.c_str(), values);
  };
  table("plane_high", [](const InputRing& ring) { return ring.high[0]; });
  table("row_low", [](const InputRing& ring) { return ring.low[1]; });
  table("row_reach", [](const InputRing& ring) { return std::max(-ring.low[1], ring.high[1]); });
  table("column_reach", [](const InputRing& ring) { return std::max(-ring.low[2], ring.high[2]); });
  if (!is_fused) table("queue_low", [](const InputRing& ring) { return ring.low[0]; });
  table("queue_length", [](const InputRing& ring) { return ring.queue; });
  table("ring_depth", [](const InputRing& ring) { return ring.depth; });
  table("ring_rows", [](const InputRing& ring) { return ring.rows; });
  table("ring_pitch", [](const InputRing& ring) { return ring.pitch; });
  table("ring_offset", [](const InputRing& ring) { return ring.offset; });
  table("plane_bytes", [](const InputRing& ring) { return ring.plane_bytes; });
  table("warm_up_of", [](const InputRing& ring) { return ring.warm_up(); });
}

std::string SystemProgram::constants(const SystemTile* tile, int all_threads, const FusedTile* fused,
                                     FusedTile::Registers registers) const {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh", "kernels/cuda/system/operations.cuh",
                      "kernels/cuda/system/system_arguments.hpp"});
  text.type("Stored", stored_name(precision_));
  text.type("Compute", stored_name(sum_precision(precision_)));
  const std::vector<GroupInput>& inputs = group_.inputs;
  const std::string count =
      std::string("[").append(std::to_string(std::max<std::size_t>(inputs.size(), 1))).append("]");
  text.integer("inputs", static_cast<int>(inputs.size()));
  text.integer("statements", group_.statements());
  text.integer("outputs",
               group_.statements() +
                   (fused ? static_cast<int>(fused->written_before(fields_of_statements_).size()) : 0));
  std::vector<int> is_coefficient;
  for (const GroupInput& input : inputs) is_coefficient.push_back(input.is_coefficient);
  if (inputs.empty()) is_coefficient = {0};
  text.table("is_coefficient", count.c_str(), is_coefficient);
  text.line("// What a read beyond a face finds: [array][axis][side].");
  std::vector<InputWalls> walls;
  for (const GroupInput& input : inputs) walls.push_back(walls_of(input));
  add_walls(text, "beyond", "ghost", count, walls);
  if (tile) {
    text.integer("all_threads", all_threads);
    add_constants_of_tile(text, *tile, count, fused != nullptr);
  }
  if (fused) {
    text.line("// Registers of threads that compute, and of the others; 0: all have as many.");
    text.integer("registers", registers.computing);
    text.integer("registers_of_helpers", registers.helping);
    add_constants_of_levels(text, *fused);
  }
  std::string result =
      text.finished() + "\n" + comment_ +
      "namespace spsolve::cuda {\nnamespace {\n\nusing constants::Compute, constants::Stored;\n\n"
      "namespace array {\n";
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result += "constexpr int " + inputs[i].name + " = " + std::to_string(i) + ";\n";
  return result + "}  // namespace array\n\n" + (fused && fused->splits ? group_.split->text : group_.text) +
         (fused && fused->kept > 0 ? "\n" + group_.kept->text : "") +
         (fused && fused->taken > 0 ? "\n" + group_.taken->text : "") +
         "\n}  // namespace\n}  // namespace spsolve::cuda\n";
}

HostArguments SystemProgram::arguments(const GroupFields& fields, const std::vector<Box>& boxes,
                                       const std::vector<double>& scalars) const {
  HostArguments a{};
  Box all;
  for (const Box& box : boxes) all = hull_of(all, box);
  a.region = region_of(all, axes_);
  const Index3& shape = fields_.front().shape;
  for (int k = 0; k < axis_count; ++k) a.shape[k] = shape[axes_[k]];
  std::transform(scalars.begin(), scalars.end(), a.scalars, [&](double value) {
    return precision_ == Precision::fp64 ? value : static_cast<double>(static_cast<float>(value));
  });
  a.inner = a.region;
  std::size_t next = 0;
  for (; next < group_.inputs.size(); ++next) {
    const GroupInput& input = group_.inputs[next];
    a.array[next] = memory_of(*fields.inputs[next], axes_);
    const Region memory = region_of(fields.inputs[next]->allocated(), axes_);
    for (int k = 0; k < axis_count; ++k) {
      const auto [first, last] = reach(input, k);
      const bool walls = beyond(input, k, low) != Beyond::memory;
      const long long begin = walls ? std::max(memory.begin[k], 0LL) : memory.begin[k],
                      end = walls ? std::min(memory.end[k], a.shape[k]) : memory.end[k];
      a.inner.begin[k] = std::max(a.inner.begin[k], begin - first);
      a.inner.end[k] = std::min(a.inner.end[k], end - last);
    }
  }
  for (std::size_t s = 0; s < boxes.size(); ++s, ++next) {
    a.array[next] = memory_of(*fields.outputs[s], axes_);
    const Region box = region_of(boxes[s], axes_);
    std::copy_n(box.begin, axis_count, a.array[next].begin);
    std::copy_n(box.end, axis_count, a.array[next].end);
  }
  return a;
}

View view_of(const SystemArray& array, std::int64_t element_bytes) {
  View view{};
  const std::int64_t first =
      array.begin[0] * array.stride[0] + array.begin[1] * array.stride[1] + array.begin[2];
  view.data = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(array.data) + first * element_bytes);
  std::copy_n(array.begin, axis_count, view.begin);
  std::copy_n(array.end, axis_count, view.end);
  view.stride[plane_axis] = array.stride[0];
  view.stride[row_axis] = array.stride[1];
  view.stride[column_axis] = 1;
  return view;
}

void SystemProgram::place_columns(HostArguments& a, const GroupFields& fields, const SystemTile& tile,
                                  int useful, int margin) const {
  const auto sector_of = [&](const Field& field) {
    return sector_bytes / static_cast<std::int64_t>(storage_bytes(field.precision()));
  };
  const Field& output = *fields.outputs.front();
  const std::int64_t aligned = output.aligned_column();
  a.first_column =
      aligned + round_down<std::int64_t>(a.region.begin[column_axis] - aligned, sector_of(output));
  a.column_tiles =
      static_cast<int>(ceil_div<std::int64_t>(a.region.end[column_axis] - a.first_column, useful));
  for (std::size_t i = 0; i < group_.inputs.size(); ++i) {
    const Field& field = *fields.inputs[i];
    const std::int64_t wanted = a.first_column - margin + tile.rings[i].low[column_axis];
    const std::int64_t first =
        field.aligned_column() + round_down(wanted - field.aligned_column(), sector_of(field));
    a.array[i].lead = static_cast<int>(a.first_column - margin - first);
  }
}

void SystemProgram::end_copies_at_zeros(HostArguments& a, const GroupFields& fields) const {
  for (std::size_t i = 0; i < group_.inputs.size(); ++i) {
    const Field& field = *fields.inputs[i];
    const Region memory = region_of(field.allocated(), axes_);  // without the padding of rows
    for (int axis = 0; axis < axis_count; ++axis)
      if (copies_zeros(group_.inputs[i], axis)) {
        if (memory.begin[axis] < 0) a.array[i].begin[axis] = 0;
        a.array[i].end[axis] = std::min(a.array[i].end[axis], a.shape[axis]);
      }
    const std::int64_t columns = 16 / static_cast<std::int64_t>(storage_bytes(field.precision()));
    a.array[i].begin[column_axis] -= wrap(a.array[i].begin[column_axis] - field.aligned_column(), columns);
  }
}

std::vector<Box> SystemProgram::ghosts_in_copies(const HostArguments& a, const GroupFields& fields) const {
  std::vector<Box> ghosts(group_.inputs.size());
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    if (!copies_zeros(group_.inputs[i], column_axis)) continue;
    ghosts[i] = fields.inputs[i]->allocated();
    ghosts[i].begin[x_axis] = std::max<std::int64_t>(ghosts[i].begin[x_axis], a.array[i].begin[column_axis]);
    ghosts[i].end[x_axis] = 0;
  }
  return ghosts;
}

void SystemProgram::place_tiles(HostArguments& a, const GroupFields& fields, const SystemTile& tile,
                                std::int64_t resident) const {
  end_copies_at_zeros(a, fields);
  place_columns(a, fields, tile, tile.columns, 0);
  a.row_tiles = static_cast<int>(ceil_div<std::int64_t>(a.region.extent(row_axis), tile.rows()));
  a.shares = share_paced_march(a.region.extent(plane_axis), std::int64_t{a.column_tiles} * a.row_tiles,
                               resident, tile.warm_up());
}

void SystemProgram::place_fused_tiles(HostArguments& a, const GroupFields& fields, const FusedTile& fused,
                                      std::int64_t resident) const {
  end_copies_at_zeros(a, fields);
  place_columns(a, fields, fused.tile, fused.useful_columns, fused.margin(column_axis));
  for (std::size_t i = 0; i < group_.inputs.size(); ++i)
    if (a.array[i].lead != fused.tile.rings[i].lead)
      throw std::invalid_argument("rows of coefficients are not aligned as those of fields");
  a.row_tiles = static_cast<int>(ceil_div<std::int64_t>(a.region.extent(row_axis), fused.useful_rows()));
  a.shares = share_paced_march(a.region.extent(plane_axis), std::int64_t{a.column_tiles} * a.row_tiles,
                               resident, fused.warm_up());
}

}  // namespace spsolve::cuda
