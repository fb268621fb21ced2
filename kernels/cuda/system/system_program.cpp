// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/system_program.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/error.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// Returns a value as a field stores it, in compute precision.
double as_stored(double value, Precision precision) {
  return with_storage(precision, [&]<class Storage>() { return stored_value(to_storage<Storage>(value)); });
}

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

/// The smallest range of offsets that holds those of an input along an axis.
std::pair<int, int> reach(const GroupInput& input, int axis) {
  std::pair<int, int> range{input.offsets.front()[axis], input.offsets.front()[axis]};
  for (const auto& offset : input.offsets) {
    range.first = std::min(range.first, offset[axis]);
    range.second = std::max(range.second, offset[axis]);
  }
  return range;
}

}  // namespace

SystemProgram::SystemProgram(const Canonical& canonical, const std::vector<Domain>& fields, int first,
                             int last, Precision precision)
    : fields_(fields),
      precision_(precision),
      axes_(grid_axes(fields.front())),
      group_(group_of(canonical, first, last, axes_)),
      comment_(commented(text_of(canonical))) {
  if (static_cast<int>(group_.inputs.size()) + group_.statements() > most_system_arrays)
    throw Error(Status::invalid_input,
                "[equations] statements read and write more than " + std::to_string(most_system_arrays) +
                    " arrays at once, more than a kernel for GPUs takes; use compute.device = \"cpu\"");
  if (static_cast<int>(canonical.scalars.size()) > most_system_scalars)
    throw Error(Status::invalid_input, "[equations] more than " + std::to_string(most_system_scalars) +
                                           " values depend on t and step, more than a kernel for GPUs takes; "
                                           "use compute.device = \"cpu\"");
}

Beyond SystemProgram::beyond(const GroupInput& input, int axis, Side side) const {
  if (input.is_coefficient) return Beyond::memory;
  const BoundaryKind kind = fields_[input.index].faces[axes_[axis]][side].kind;
  return kind == BoundaryKind::periodic    ? Beyond::memory
         : kind == BoundaryKind::dirichlet ? Beyond::value
                                           : Beyond::reflection;
}

std::optional<SystemTile> SystemProgram::tile(const BlockLimits& limits,
                                              const std::optional<SystemTile>& given) const {
  GhostAxes ghosts;
  for (const GroupInput& input : group_.inputs) {
    ghosts.emplace_back();
    for (int axis = 0; axis < axis_count; ++axis)
      ghosts.back()[axis] = beyond(input, axis, low) != Beyond::memory;
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

std::string SystemProgram::constants(const SystemTile* tile, int all_threads) const {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh", "kernels/cuda/system/operations.cuh",
                      "kernels/cuda/system/system_arguments.hpp"});
  text.type("Stored", stored_name(precision_));
  text.type("Compute", stored_name(sum_precision(precision_)));
  const std::vector<GroupInput>& inputs = group_.inputs;
  const std::string count = "[" + std::to_string(std::max<std::size_t>(inputs.size(), 1)) + "]";
  text.integer("inputs", static_cast<int>(inputs.size()));
  text.integer("statements", group_.statements());
  std::vector<int> is_coefficient;
  std::string walls, ghosts;
  for (const GroupInput& input : inputs) {
    is_coefficient.push_back(input.is_coefficient);
    walls += "{";
    ghosts += "{";
    for (int axis = 0; axis < axis_count; ++axis) {
      walls += "{";
      ghosts += "{";
      for (const Side side : {low, high}) {
        constexpr std::array names{"memory", "value", "reflection"};
        const Beyond there = beyond(input, axis, side);
        walls.append("Beyond::").append(names[static_cast<std::size_t>(there)]).append(", ");
        const double value = there == Beyond::value
                                 ? as_stored(fields_[input.index].faces[axes_[axis]][side].value, precision_)
                                 : 0.0;
        ghosts.append("Compute(").append(ConstantsText::number(value)).append("), ");
      }
      walls += "}, ";
      ghosts += "}, ";
    }
    walls += "}, ";
    ghosts += "}, ";
  }
  if (inputs.empty()) is_coefficient = {0};
  text.table("is_coefficient", count.c_str(), is_coefficient);
  text.line("// What a read beyond a face finds: [array][axis][side].");
  text.line("__device__ constexpr Beyond beyond" + count + "[3][2] = {" + walls + "};");
  text.line("__device__ constexpr Compute ghost" + count + "[3][2] = {" + ghosts + "};");
  if (tile) {
    text.integer("tile_columns", tile->columns);
    text.integer("thread_rows", tile->thread_rows);
    text.integer("rows_of_thread", tile->rows_of_thread);
    text.integer("threads", tile->threads());
    text.integer("all_threads", all_threads);
    text.integer("ghost_warps", tile->ghost_warps);
    text.integer("blocks", tile->blocks);
    text.integer("ahead", tile->ahead);
    text.integer("pace_lag", tile->pace_lag);
    text.integer("warm_up", tile->warm_up());
    const auto table = [&](const char* name, auto&& value) {
      std::vector<int> values;
      for (const InputRing& ring : tile->rings) values.push_back(value(ring));
      text.table(name, count.c_str(), values);
    };
    table("plane_high", [](const InputRing& ring) { return ring.high[0]; });
    table("row_low", [](const InputRing& ring) { return ring.low[1]; });
    table("row_reach", [](const InputRing& ring) { return std::max(-ring.low[1], ring.high[1]); });
    table("column_reach", [](const InputRing& ring) { return std::max(-ring.low[2], ring.high[2]); });
    table("queue_low", [](const InputRing& ring) { return ring.low[0]; });
    table("queue_length", [](const InputRing& ring) { return ring.queue; });
    table("ring_depth", [](const InputRing& ring) { return ring.depth; });
    table("ring_rows", [](const InputRing& ring) { return ring.rows; });
    table("ring_pitch", [](const InputRing& ring) { return ring.pitch; });
    table("ring_offset", [](const InputRing& ring) { return ring.offset; });
    table("plane_bytes", [](const InputRing& ring) { return ring.plane_bytes; });
    table("warm_up_of", [](const InputRing& ring) { return ring.warm_up(); });
  }
  std::string result =
      text.finished() + "\n" + comment_ +
      "namespace spsolve::cuda {\nnamespace {\n\nusing constants::Compute, constants::Stored;\n\n"
      "namespace array {\n";
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result += "constexpr int " + inputs[i].name + " = " + std::to_string(i) + ";\n";
  return result + "}  // namespace array\n\n" + group_.text +
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

Box region_of_united_groups(const SystemFacts& facts, const Domain& domain, const Box& region) {
  // How far each statement reads `.next`, through the statements that it reads too.
  std::vector<Index3> before(facts.reach_now.size()), after(facts.reach_now.size());  // by field
  Index3 most_before{}, most_after{};
  for (const EquationFacts& equation : facts.equations)
    for (const auto& [read, offsets] : equation.reach) {
      if (read.level != Level::next) continue;
      const auto from = static_cast<std::size_t>(read.field), to = static_cast<std::size_t>(equation.field);
      for (int axis = 0; axis < axis_count; ++axis) {
        before[to][axis] = std::max(before[to][axis], before[from][axis] - offsets.begin[axis]);
        after[to][axis] = std::max(after[to][axis], after[from][axis] + offsets.end[axis] - 1);
        most_before[axis] = std::max(most_before[axis], before[to][axis]);
        most_after[axis] = std::max(most_after[axis], after[to][axis]);
      }
    }
  Box inner = region;
  for (int axis = 0; axis < axis_count; ++axis) {
    if (domain.periodic(axis)) continue;
    inner.begin[axis] = std::max(inner.begin[axis], most_before[axis]);
    inner.end[axis] = std::min(inner.end[axis], domain.shape[axis] - most_after[axis]);
  }
  return inner.empty() ? Box{} : inner;
}

void SystemProgram::place_tiles(HostArguments& a, const GroupFields& fields, const SystemTile& tile,
                                std::int64_t resident) const {
  constexpr int sector_bytes = 32;
  const auto sector_of = [&](const Field& field) {
    return sector_bytes / static_cast<std::int64_t>(storage_bytes(field.precision()));
  };
  // The first owned point of a row is aligned.
  const Field& output = *fields.outputs.front();
  const std::int64_t aligned = output.owned().begin[x_axis];
  a.first_column =
      aligned + round_down<std::int64_t>(a.region.begin[column_axis] - aligned, sector_of(output));
  a.column_tiles =
      static_cast<int>(ceil_div<std::int64_t>(a.region.end[column_axis] - a.first_column, tile.columns));
  a.row_tiles = static_cast<int>(ceil_div<std::int64_t>(a.region.extent(row_axis), tile.rows()));
  for (std::size_t i = 0; i < group_.inputs.size(); ++i) {
    const Field& field = *fields.inputs[i];
    const std::int64_t wanted = a.first_column + tile.rings[i].low[column_axis];
    const std::int64_t first =
        field.owned().begin[x_axis] + round_down(wanted - field.owned().begin[x_axis], sector_of(field));
    a.array[i].lead = static_cast<int>(a.first_column - first);
  }
  const std::int64_t tiles = std::int64_t{a.column_tiles} * a.row_tiles;
  const std::int64_t stretch = balanced_stretch(a.region.extent(plane_axis), tiles, resident, tile.warm_up());
  a.chunk_planes = static_cast<int>(std::clamp<std::int64_t>(stretch, 1, a.region.extent(plane_axis)));
}

}  // namespace spsolve::cuda
