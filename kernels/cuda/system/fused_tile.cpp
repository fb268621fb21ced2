// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/fused_tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr int box_alignment = 128;  // bytes, of what the copy engine writes
constexpr int sector_bytes = 32;    // of memory: rows of tiles begin at multiples of it
constexpr int registers_of_multiprocessor = 65536, most_registers = 255;
/// Registers for addresses and for operands of a point: with fewer NVRTC 13.0 spills.
constexpr int registers_besides = 36;

/// What an iteration of a march costs, after rates of tiles on one H100 (docs/log/systems.md): instructions
/// of a warp per level, and of a point and level besides its operations; issue slots of fp64 against those of
/// fp32; bytes that a multiprocessor moves per cycle, and the share of halos, most of which are found in the
/// L2 cache; the power of the mean of instructions, shared memory and memory, which overlap; cycles that a
/// barrier and the wait for planes take; and how much slower tiles beside reflecting walls are, for which all
/// others wait.
constexpr double instructions_of_level = 40, instructions_of_point = 5, slots_of_fp64 = 1.7,
                 bytes_per_cycle = 13, share_of_halos = 0.4, overlap = 3, waiting = 300,
                 waiting_for_planes = 200, reflecting = 2.2;

bool reflects(const Domain& field, int axis) {
  return field.faces[axis][low].kind == BoundaryKind::neumann ||
         field.faces[axis][high].kind == BoundaryKind::neumann;
}

/// Why no march takes several steps of a system, or nothing.
std::optional<NoKernel> why_not(const Canonical& canonical, const SystemFacts& facts,
                                const SystemGroup& group, const std::vector<Domain>& fields, int steps) {
  if (facts.groups.size() > 1) return NoKernel{"statements read .next of others at displaced points"};
  if (fields.front().dimensions == 1) return NoKernel{"the grid has one axis"};
  if (std::ranges::any_of(fields, &Domain::has_filled_faces))
    return NoKernel{"ghost points are filled before every step"};
  if (steps * static_cast<int>(canonical.scalars.size()) > most_system_scalars)
    return NoKernel{"too many values depend on t and step"};
  std::size_t arrays = group.inputs.size() + canonical.equations.size();
  for (const Box& reach : facts.reach_previous) arrays += !reach.empty();
  if (arrays > most_system_arrays) return NoKernel{"steps read and write too many arrays"};
  for (const GroupInput& input : group.inputs) {
    if (input.is_coefficient) continue;
    for (const auto& [plane, row, column] : input.offsets) {
      const bool at_column = row == 0 && column == 0;
      if (input.level == Level::previous && !(at_column && plane == 0))
        return NoKernel{".previous is read at displaced points"};
      if (!at_column && plane != 0)
        return NoKernel{"fields are read at points displaced along the slowest axis and another"};
    }
    const bool is_read_now = std::any_of(group.inputs.begin(), group.inputs.end(), [&](const auto& other) {
      return !other.is_coefficient && other.index == input.index && other.level == Level::now;
    });
    if (!is_read_now) return NoKernel{".previous is read of a field that is not read otherwise"};
  }
  return {};
}

LevelRings level_of(const SystemGroup& group, int field, const Domain& domain, const std::array<int, 3>& axes,
                    int reach) {
  LevelRings level;
  level.low = reach;  // nothing is read
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    const GroupInput& input = group.inputs[i];
    if (input.is_coefficient || input.index != field) continue;
    if (input.level == Level::previous) {
      level.is_read_before = true;
      continue;
    }
    level.input = static_cast<int>(i);
    for (const auto& offset : input.offsets) {
      level.low = std::min(level.low, offset[0]);
      level.rows = std::max(level.rows, std::abs(offset[1]));
      level.columns = std::max(level.columns, std::abs(offset[2]));
    }
  }
  // A plane beyond a wall has the values of one that lies as far before it.
  if (reflects(domain, axes[0])) level.low = std::min(level.low, 1 - reach);
  return level;
}

/// Lays out the shared memory of a tile.
void lay_out_fused(FusedTile& fused, const SystemGroup& group, const Canonical& canonical,
                   const std::vector<Domain>& fields, Precision precision) {
  const std::array<int, 3> axes = grid_axes(fields.front());
  GhostAxes ghosts;
  for (const GroupInput& input : group.inputs) {
    ghosts.emplace_back();
    for (int axis = 0; axis < axis_count; ++axis)
      ghosts.back()[axis] = !input.is_coefficient && !fields[input.index].periodic(axes[axis]);
  }
  SystemTile& tile = fused.tile;
  const int sizes[] = {static_cast<int>(storage_bytes(precision)),
                       static_cast<int>(storage_bytes(sum_precision(precision)))};
  fused.useful_columns = round_down(tile.columns - 2 * fused.margin(2), sector_bytes / sizes[0]);
  lay_out(tile, group, precision, ghosts);
  if (tile.ghost_warps > 0) tile.ghost_warps = 1;
  tile.shared_bytes = barrier_bytes;
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    const GroupInput& input = group.inputs[i];
    InputRing& ring = tile.rings[i];
    const int element = sizes[input.is_coefficient], sector = sector_bytes / element;
    if (input.is_coefficient) {  // all of its planes are read from the ring
      ring.queue = 0;
      ring.first_plane = ring.low[0];
      ring.depth = ring.high[0] - ring.low[0] + 1 + tile.ahead + (fused.steps - 1) * fused.lag();
    } else {
      const int margin = fused.margin(2);
      const int before = round_up(margin - ring.low[2], sector) - margin;
      ring.pitch = round_up(before + tile.columns + ring.high[2], sector);
    }
    ring.plane_bytes = round_up(ring.rows * ring.pitch * element, box_alignment);
    ring.offset = tile.shared_bytes;
    tile.shared_bytes += ring.depth * ring.plane_bytes;
  }
  fused.levels.clear();
  for (int s = 0; s < group.statements(); ++s) {
    const int field = canonical.fields[static_cast<std::size_t>(s)];
    LevelRings level = level_of(group, field, fields[static_cast<std::size_t>(field)], axes, fused.reach[0]);
    if (level.rows > 0 || level.columns > 0) {
      level.rows = fused.reach[1];
      level.columns = fused.reach[2];
      level.pitch = tile.columns + 2 * level.columns;
      level.plane_bytes = round_up((tile.rows() + 2 * level.rows) * level.pitch * sizes[0], box_alignment);
      level.offset = tile.shared_bytes;
      tile.shared_bytes += (fused.steps - 1) * (fused.lag() + 1) * level.plane_bytes;
    }
    fused.levels.push_back(level);
  }
}

/// Accesses to shared memory per point and level: rows that a thread has itself come from registers.
double accesses(const SystemGroup& group, int rows_of_thread) {
  double count = group.statements();  // stores
  for (const GroupInput& input : group.inputs)
    for (const auto& [plane, row, column] : input.offsets) {
      if (column != 0 || (input.is_coefficient && row == 0))
        count += 1;
      else
        count += std::min(std::abs(row), rows_of_thread) / static_cast<double>(rows_of_thread);
    }
  return count;
}

/// Returns the shapes of tiles that are looked at.
std::vector<SystemTile> shapes(int dimensions) {
  std::vector<SystemTile> tiles;
  if (dimensions == 2) {
    for (const int columns : {192, 128})
      for (const int blocks : {6, 4, 2})
        for (const int ahead : {4, 2}) tiles.push_back(tile_of(columns, 1, 1, ahead, blocks, ahead));
    return tiles;
  }
  for (const int columns : {128, 96, 80, 72, 64, 48, 40, 32})
    for (int thread_rows = 2; thread_rows <= 16; ++thread_rows)
      for (const int rows_of_thread : {2, 3, 4, 5, 6, 7, 8})
        for (const int ahead : {2, 1})
          if (const int threads = columns * thread_rows;
              threads % 32 == 0 && threads >= 256 && threads <= 576)
            tiles.push_back(tile_of(columns, thread_rows, rows_of_thread, ahead, 1, ahead));
  return tiles;
}

bool fits_fused(const FusedTile& fused, Precision precision, const BlockLimits& limits) {
  const SystemTile& tile = fused.tile;
  if (fused.useful_rows() <= 0 || fused.useful_columns <= 0 || !fits(tile, limits)) return false;
  const int words = precision == Precision::fp64 ? 2 : 1;
  const int needed = registers_besides + words * fused.held() * tile.rows_of_thread;
  const int warps = ceil_div(tile.all_threads(limits) / 32 * tile.blocks, schedulers_of_multiprocessor),
            available = registers_of_multiprocessor / schedulers_of_multiprocessor / (32 * warps) / 8 * 8;
  return needed <= std::min(available, most_registers);
}

}  // namespace

std::vector<int> FusedTile::written_before(const std::vector<int>& fields) const {
  std::vector<int> statements;
  for (int s = 0; s < static_cast<int>(levels.size()); ++s)
    if (levels[static_cast<std::size_t>(s)].is_read_before) statements.push_back(s);
  std::sort(statements.begin(), statements.end(), [&](int a, int b) {
    return fields[static_cast<std::size_t>(a)] < fields[static_cast<std::size_t>(b)];
  });
  return statements;
}

int FusedTile::held() const {
  int values = 0;
  for (int level = 0; level < steps; ++level)
    for (const LevelRings& of : levels) {
      const int newest = level > 0      ? reach[0]
                         : of.input < 0 ? of.low - 1
                                        : tile.rings[static_cast<std::size_t>(of.input)].high[0];
      const int oldest = of.is_read_before && level + 2 <= steps ? -lag() : of.low;
      values += std::max(0, newest - oldest + 1);
    }
  return values;
}

double fused_cycles(const FusedTile& fused, const Domain& grid, Precision precision,
                    const BlockLimits& limits) {
  const std::array<int, 3> axes = grid_axes(grid);
  const SystemTile& tile = fused.tile;
  const std::int64_t planes = grid.shape[axes[0]],
                     tiles = ceil_div<std::int64_t>(grid.shape[axes[1]], fused.useful_rows()) *
                             ceil_div<std::int64_t>(grid.shape[axes[2]], fused.useful_columns),
                     resident = std::int64_t{limits.multiprocessors} * tile.blocks,
                     stretch = balanced_stretch(planes, tiles, resident, fused.warm_up()),
                     waves = ceil_div(tiles * ceil_div(planes, stretch), resident);
  const double of_point = (fused.operations + fused.held() / static_cast<double>(fused.steps) +
                           instructions_of_point * static_cast<double>(fused.levels.size())) *
                          (precision == Precision::fp64 ? slots_of_fp64 : 1.0);
  const double warps = tile.threads() * tile.blocks / 32.0;
  const double issue = fused.steps * (instructions_of_level + tile.rows_of_thread * of_point) * warps /
                       schedulers_of_multiprocessor;
  const double shared =
      fused.steps * tile.rows_of_thread * fused.accesses * warps * (precision == Precision::fp64 ? 2 : 1);
  const double useful = static_cast<double>(fused.useful_rows()) * fused.useful_columns;
  double bytes = 0;
  for (const InputRing& ring : tile.rings) {
    const double element = ring.plane_bytes / (static_cast<double>(ring.rows) * ring.pitch);
    bytes += element * (useful + share_of_halos * (static_cast<double>(ring.rows) * ring.pitch - useful));
  }
  for (const LevelRings& level : fused.levels)
    bytes += (level.is_read_before ? 2 : 1) * useful * static_cast<double>(storage_bytes(precision));
  const double memory = bytes * tile.blocks / bytes_per_cycle;
  const double mean =
      std::pow(std::pow(issue, overlap) + std::pow(shared, overlap) + std::pow(memory, overlap), 1 / overlap);
  return static_cast<double>(waves * (stretch + fused.warm_up())) *
         (mean * (fused.reflects ? reflecting : 1.0) + waiting + waiting_for_planes / tile.ahead);
}

MadeOr<FusedTile> fused_tile(const Canonical& canonical, const SystemFacts& facts,
                             const std::vector<Domain>& fields, Precision precision, int steps,
                             const BlockLimits& limits, const std::optional<SystemTile>& given) {
  const Domain& grid = fields.front();
  const std::array<int, 3> axes = grid_axes(grid);
  if (facts.groups.size() > 1) return NoKernel{"statements read .next of others at displaced points"};
  const SystemGroup group =
      group_of(canonical, fields, 0, static_cast<int>(canonical.equations.size()), axes);
  if (auto none = why_not(canonical, facts, group, fields, steps)) return *std::move(none);
  FusedTile fused;
  fused.steps = steps;
  for (const GroupInput& input : group.inputs)
    for (const auto& offset : input.offsets)
      for (int axis = 0; axis < axis_count; ++axis)
        if (!input.is_coefficient) fused.reach[axis] = std::max(fused.reach[axis], std::abs(offset[axis]));
  fused.operations = static_cast<int>(std::count(group.text.begin(), group.text.end(), ';')) -
                     2 * group.statements();  // but for names of what statements make
  for (int axis = 0; axis < axis_count; ++axis)
    if (!grid.periodic(axes[axis]) && grid.shape[axes[axis]] < 2 * fused.reach[axis])
      return NoKernel{"the grid is thinner than what a step reads"};
  std::optional<FusedTile> best;
  double least = 0;
  for (const Domain& field : fields)
    fused.reflects = fused.reflects || reflects(field, axes[row_axis]) || reflects(field, axes[column_axis]);
  for (const SystemTile& shape : given ? std::vector{*given} : shapes(grid.dimensions)) {
    fused.tile = shape;
    lay_out_fused(fused, group, canonical, fields, precision);
    fused.accesses = accesses(group, shape.rows_of_thread);
    if (given ? !fits(fused.tile, limits) || fused.useful_rows() <= 0 || fused.useful_columns <= 0
              : !fits_fused(fused, precision, limits))
      continue;
    const double work = fused_cycles(fused, grid, precision, limits);
    if (!best || work < 0.999 * least) best = fused, least = work;
  }
  if (!best) return NoKernel{"the levels of a tile do not fit into shared memory and registers"};
  return *std::move(best);
}

}  // namespace spsolve::cuda
