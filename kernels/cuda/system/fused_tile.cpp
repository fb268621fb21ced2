// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/fused_tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr int registers_of_multiprocessor = 65536, max_registers = 255, registers_of_helper = 40,
              registers_of_split_helper = 32;
constexpr int threads_of_warp = 32, warps_of_warpgroup = 4;
/// Estimates the registers of a thread: a base, and a number for each value that the thread holds. With fewer
/// registers NVRTC 13.0 spills many values, and tiles are slower, because a large shared memory leaves little
/// cache for local memory (docs/log/systems.md). If several blocks share a multiprocessor, their threads
/// cannot take registers from helping warps; 48 registers were then too few. Split sums, and tiles of one
/// warp, have numbers of their own, fitted to the tiles that were compiled. From 9 levels on, every level
/// takes additional registers.
constexpr double registers_besides = 24, registers_besides_in_blocks = 35, registers_of_value = 1.6,
                 registers_besides_split = 14, registers_of_split_value = 1.4, registers_besides_alone = 47,
                 registers_besides_levels = 14, registers_of_level = 4, registers_of_value_alone = 1.12;

constexpr int max_moved = 2;
/// Limits the arrays that a tile of one warp reads. Elastic waves read 9 arrays and reach 29 G points x
/// steps/s with two steps, 30 with single ones; two steps are faster if a step reads up to 4 arrays
/// (docs/log/systems.md).
constexpr std::size_t max_arrays_of_one_warp = 6;

bool reflects(const Domain& field, int axis) {
  return field.faces[axis][low].kind == BoundaryKind::neumann ||
         field.faces[axis][high].kind == BoundaryKind::neumann;
}

/// Returns all reads of a group.
std::vector<GroupRead> reads_of(const SystemGroup& group) {
  std::vector<GroupRead> reads;
  for (std::size_t i = 0; i < group.inputs.size(); ++i)
    for (const auto& offset : group.inputs[i].offsets) reads.push_back({static_cast<int>(i), offset});
  return reads;
}

/// Sets rows_ahead and rows_behind: in which planes besides that of a point levels read other rows. Returns
/// false if levels cannot find all values that they read. Other rows come from shared memory, in any plane
/// that other threads have stored. Other columns of other planes come from the threads of a warp, if the warp
/// has a row. Ghost points that reflecting walls fill in shared memory only are there in the plane of the
/// point. Level 1 finds all planes in rings, unless it keeps values as other levels do.
bool find_reads(FusedTile& fused, const SystemGroup& group, const std::vector<GroupRead>& reads,
                bool is_row_of_warp) {
  const bool finds_other_planes = is_row_of_warp && !fused.splits && fused.reflects == fused.mirrors;
  fused.rows_ahead = fused.rows_behind = 0;
  for (const auto& [input, offset] : fused.kept > 0 ? group.kept->reads : reads) {
    const int plane = offset[plane_axis];
    const bool is_column = offset[row_axis] == 0 && offset[column_axis] == 0;
    if (group.inputs[static_cast<std::size_t>(input)].is_coefficient || plane == 0 || is_column) continue;
    if (!finds_other_planes) return false;
    if (offset[row_axis] == 0) continue;
    fused.rows_ahead = std::max(fused.rows_ahead, plane);
    fused.rows_behind = std::max(fused.rows_behind, -plane);
  }
  return true;
}

/// Returns why no march takes several steps of a system, or nothing if one does.
std::optional<NoKernel> why_not(const Canonical& canonical, const SystemFacts& facts,
                                const SystemGroup& group, const std::vector<Domain>& fields, int steps) {
  if (fields.front().dimensions == 1) return NoKernel{"the grid has one axis"};
  const Box grid = fields.front().box();
  if (facts.groups.size() > 1 && region_of_united_groups(facts, fields, grid) != grid)
    return NoKernel{"statements read .next of others more than one point beyond a reflecting wall"};
  if (steps * static_cast<int>(canonical.scalars.size()) > max_system_scalars)
    return NoKernel{"too many values depend on t and step"};
  std::size_t arrays = group.inputs.size() + canonical.equations.size();
  for (const Box& reach : facts.reach_previous) arrays += !reach.empty();
  if (arrays > max_system_arrays) return NoKernel{"steps read and write too many arrays"};
  for (const GroupInput& input : group.inputs) {
    if (input.is_coefficient) continue;
    for (const auto& [plane, row, column] : input.offsets) {
      if (input.level == Level::previous && (plane != 0 || row != 0 || column != 0))
        return NoKernel{".previous is read at displaced points"};
    }
    const bool is_read_now = std::any_of(group.inputs.begin(), group.inputs.end(), [&](const auto& other) {
      return !other.is_coefficient && other.index == input.index && other.level == Level::now;
    });
    if (!is_read_now) return NoKernel{".previous is read of a field that is not read otherwise"};
  }
  return {};
}

/// Returns why levels cannot make the ghost points of filled faces, or nothing if they can. `walls` holds the
/// walls as levels see them.
std::optional<NoKernel> why_not_between(const std::vector<FilledFace>& filled, const FusedTile& fused,
                                        const SystemGroup& group, const std::vector<GroupRead>& reads,
                                        const std::vector<Domain>& walls, const std::array<int, 3>& axes) {
  if (filled.empty()) return {};
  if (std::ranges::any_of(filled, [](const FilledFace& face) {
        return face.values && (face.varies_along_face || face.varies_in_time);
      }))
    return NoKernel{"ghost points whose values change along a face or in time are filled before every step"};
  for (const int axis : {row_axis, column_axis})
    if (!walls.front().periodic(axes[axis]) && fused.reach[axis] > 1)
      return NoKernel{"a step reads more than one point beyond walls that are filled"};
  for (const GroupRead& read : reads)
    if (!group.inputs[static_cast<std::size_t>(read.input)].is_coefficient &&
        std::ranges::count(read.offset, 0) < 2)
      return NoKernel{"a step reads diagonal neighbours, and walls are filled"};
  return {};
}

/// Returns the walls as levels see them: ghost points beyond filled faces are computed from the points that
/// they mirror.
std::vector<Domain> walls_of_levels(std::vector<Domain> fields) {
  for (Domain& field : fields)
    for (auto& faces : field.faces)
      for (Face& face : faces)
        if (face.kind == BoundaryKind::filled) face.kind = BoundaryKind::neumann;
  return fields;
}

/// Returns true if a march can begin sums as soon as a plane has arrived. This saves planes in shared memory
/// where a step reads far. A reflecting wall at an end of the march rules it out, because sums would read
/// reflected planes that have not arrived yet.
bool can_split(const SystemFacts& facts, const SystemGroup& group, const std::vector<Domain>& fields,
               const std::array<int, 3>& axes, int lag) {
  return fields.front().dimensions == 3 && lag > 1 && facts.groups.size() == 1 && group.split &&
         std::ranges::none_of(fields,
                              [&](const Domain& field) { return reflects(field, axes[plane_axis]); }) &&
         std::ranges::all_of(group.split->sum_reads, [&](const GroupRead& read) {
           const auto& offsets = group.inputs[static_cast<std::size_t>(read.input)].offsets;
           return std::ranges::any_of(offsets, [&](const auto& offset) { return offset[plane_axis] == lag; });
         });
}

/// Returns true if levels can keep values of the plane before the first plane of a grid. All points of that
/// plane are ghost points, and shared memory does not hold it. So levels cannot read other rows of it, nor
/// their own rows beside reflecting walls along rows or columns, unless threads mirror their own values.
bool can_keep(const SystemGroup& group, const std::vector<GroupRead>& reads,
              const std::vector<Domain>& fields, const std::array<int, 3>& axes, bool mirrors) {
  if (!group.kept) return false;
  if (fields.front().periodic(axes[plane_axis])) return true;
  const bool reflects_across = std::ranges::any_of(fields, [&](const Domain& field) {
    return reflects(field, axes[row_axis]) || reflects(field, axes[column_axis]);
  });
  const bool reads_rows = std::ranges::any_of(
      reads, [](const GroupRead& read) { return read.offset[plane_axis] < 0 && read.offset[row_axis] != 0; });
  return group.kept->planes == 1 && (mirrors || !reflects_across) &&
         !(reads_rows && group.kept->reads_beyond_walls);
}

/// Returns the offset of the oldest plane of an input that is read; `none` if there is no older one.
int oldest_read(const std::vector<GroupRead>& reads, int input, int none) {
  for (const GroupRead& read : reads)
    if (read.input == input) none = std::min(none, read.offset[plane_axis]);
  return none;
}

LevelRings level_of(const SystemGroup& group, int field, const Domain& domain, const std::array<int, 3>& axes,
                    int reach, bool splits, bool keeps) {
  LevelRings level;
  level.low = level.begin_low = reach;  // nothing is read
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    const GroupInput& input = group.inputs[i];
    if (input.is_coefficient || input.index != field) continue;
    if (input.level == Level::previous) {
      level.is_read_before = true;
      continue;
    }
    level.input = static_cast<int>(i);
    for (const auto& offset : input.offsets) {
      if (!splits && !keeps) level.low = std::min(level.low, offset[0]);
      level.rows = std::max(level.rows, std::abs(offset[1]));
      level.columns = std::max(level.columns, std::abs(offset[2]));
    }
  }
  const auto low = [&](const std::vector<GroupRead>& reads) {
    return oldest_read(reads, level.input, reach);
  };
  if (keeps) level.low = low(group.kept->reads);
  if (splits) {
    level.low = low(group.split->finish_reads);
    level.begin_low = low(group.split->sum_reads);
  }
  // A plane beyond a wall has the values of the plane that lies as far inside it.
  if (reflects(domain, axes[0])) level.low = std::min(level.low, 1 - reach);
  return level;
}

/// Lays out the planes of a level of a statement in shared memory. Threads of one warp exchange values of
/// their rows by shuffles, if the warp has a row, no reflecting wall makes ghost points among them, and rows
/// are not read so far that vectors from shared memory are cheaper.
void lay_out_level(LevelRings& level, const FusedTile& fused, bool reflects, int element_bytes) {
  const SystemTile& tile = fused.tile;
  const bool all_rows =
      (reflects && !fused.mirrors) || fused.splits || tile.columns > threads_of_warp * tile.columns_of_thread;
  if (level.rows == 0 && (level.columns == 0 || !all_rows)) {
    level.rows = level.columns = 0;
    return;
  }
  level.rows = fused.reach[1];
  level.stored_rows = all_rows ? tile.rows_of_thread : std::min(tile.rows_of_thread, 2 * level.rows);
  level.columns = all_rows ? round_up(fused.reach[2], tile.columns_of_thread) : 0;
  level.pitch = tile.columns + 2 * level.columns;
  level.plane_bytes = round_up(
      (tile.thread_rows * level.stored_rows + 2 * level.rows) * level.pitch * element_bytes, box_alignment);
}

/// Leaves out of the ring of a field the planes that level 1 does not read, because it keeps the values
/// computed from them.
void hold_kept_reads(InputRing& ring, const SystemGroup& group, int input, int ahead) {
  ring.first_plane = ring.high[plane_axis];
  for (const GroupRead& read : group.kept->reads)
    if (read.input == input && (read.offset[row_axis] != 0 || read.offset[column_axis] != 0))
      ring.first_plane = std::min(ring.first_plane, read.offset[plane_axis]);
  const int planes = ring.high[plane_axis] + 1;
  if (ring.low[plane_axis] < ring.first_plane) ring.queue = planes - ring.low[plane_axis];
  ring.depth = planes - ring.first_plane + ahead;
}

/// Sets which planes of input `i` a ring holds, and which planes wait in registers.
void set_planes(InputRing& ring, const FusedTile& fused, const SystemGroup& group, std::size_t i,
                bool reads_previous) {
  const GroupInput& input = group.inputs[i];
  const SystemTile& tile = fused.tile;
  const bool is_now = !input.is_coefficient && input.level == Level::now;
  if (input.is_coefficient) {  // all of its planes are read from the ring
    ring.queue = 0;
    ring.first_plane = ring.low[0];
    const int oldest =
        fused.kept > 0 ? oldest_read(group.kept->reads, static_cast<int>(i), ring.high[0]) : ring.low[0];
    const int of_first = fused.keeps(1) ? oldest : ring.low[0];
    ring.depth =
        ring.high[0] + 1 + tile.ahead + std::max(-of_first, (fused.steps - 1) * fused.lag() - oldest);
  }
  if (!input.is_coefficient && fused.keeps(1)) hold_kept_reads(ring, group, static_cast<int>(i), tile.ahead);
  if (tile.level_0_in_ring && is_now) {
    ring.queue = 0;
    ring.first_plane = std::min({ring.low[0], ring.first_plane, reads_previous ? -fused.lag() : 0});
    ring.depth = ring.high[0] - ring.first_plane + 1 + tile.ahead;
  }
  if (fused.splits && is_now) {  // only the newest is read
    ring.queue = ring.high[0] - ring.low[0] + 1;
    ring.first_plane = ring.high[0];
    ring.depth = 1 + tile.ahead;
  }
}

/// Lays out what shared memory holds of the levels of each statement.
void lay_out_rings_of_levels(FusedTile& fused, const SystemGroup& group, const Canonical& canonical,
                             const std::vector<Domain>& fields, int value_bytes) {
  const std::array<int, 3> axes = grid_axes(fields.front());
  SystemTile& tile = fused.tile;
  fused.levels.clear();
  for (int s = 0; s < group.statements(); ++s) {
    const int field = canonical.fields[static_cast<std::size_t>(s)];
    const Domain& domain = fields[static_cast<std::size_t>(field)];
    LevelRings level = level_of(group, field, domain, axes, fused.reach[0], fused.splits, fused.kept > 0);
    lay_out_level(level, fused, reflects(domain, axes[1]) || reflects(domain, axes[2]), value_bytes);
    level.offset = tile.shared_bytes;
    tile.shared_bytes += (fused.steps - 1) * fused.level_planes * level.plane_bytes;
    level.old_offset = tile.shared_bytes;
    if (fused.splits && level.is_read_before)
      for (int behind = 0; behind + 2 <= fused.steps; ++behind)
        tile.shared_bytes +=
            (fused.oldest(behind, level) + fused.lag()) * tile.rows() * tile.columns * value_bytes;
    fused.levels.push_back(level);
  }
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
  const int margin = fused.margin(2);
  fused.useful_columns = round_down(tile.columns - 2 * margin, sector_bytes / sizes[0]);
  lay_out(tile, group, precision, ghosts);
  const int computing = tile.threads() / 32;
  tile.ghost_warps = computing % warps_of_warpgroup == 0 && tile.blocks == 1 ? warps_of_warpgroup - 1
                                                                             : std::min(tile.ghost_warps, 1);
  const bool reads_previous = std::ranges::any_of(
      group.inputs, [](const GroupInput& input) { return input.level == Level::previous; });
  tile.shared_bytes = barrier_bytes;
  for (std::size_t i = 0; i < group.inputs.size(); ++i) {
    InputRing& ring = tile.rings[i];
    ring.is_coefficient = group.inputs[i].is_coefficient;
    const int element = sizes[ring.is_coefficient], sector = sector_bytes / element;
    set_planes(ring, fused, group, i, reads_previous);
    // Tiles begin at whole threads, and the loaded parts of rows at sectors.
    ring.lead = round_up(margin - ring.low[2], sector) - margin;
    ring.pitch = round_up(ring.lead + tile.columns + ring.high[2], sector);
    ring.plane_bytes = round_up(ring.rows * ring.pitch * element, box_alignment);
    ring.offset = tile.shared_bytes;
    tile.shared_bytes += ring.depth * ring.plane_bytes;
  }
  lay_out_rings_of_levels(fused, group, canonical, fields, sizes[0]);
}

/// Limits the rows of a tile in 3D from below, without and with split sums.
constexpr int min_rows = 16, min_rows_of_split = 24;

/// Lays out the shared memory of a tile. With split sums registers are scarce, so as many old planes as fit
/// are moved from registers to shared memory.
void lay_out_levels(FusedTile& fused, const SystemGroup& group, const Canonical& canonical,
                    const std::vector<Domain>& fields, Precision precision, const BlockLimits& limits) {
  for (int moved = fused.splits ? std::min(max_moved, fused.lag()) : 0; moved >= 0; --moved)
    for (const int further : {1, 0}) {
      fused.moved_planes = moved;
      fused.level_planes = fused.level_lag() + fused.rows_behind + further;
      lay_out_fused(fused, group, canonical, fields, precision);
      if (fits(fused.tile, limits)) return;
    }
}

/// Returns the shapes of tiles that are tried with split sums. A row may be longer or shorter than the row of
/// a warp.
std::vector<SystemTile> shapes_of_split(Precision precision) {
  std::vector<SystemTile> tiles;
  const bool is_double = precision == Precision::fp64;
  const int width = is_double ? 2 : 4;
  for (const int threads : {256, 384})
    for (const int threads_of_row : is_double ? std::vector{24, 32} : std::vector{16, 24, 32})
      for (int rows = 1; rows <= 4 && threads % threads_of_row == 0; ++rows) {
        const int thread_rows = threads / threads_of_row;
        if (thread_rows * rows < min_rows_of_split) continue;
        SystemTile tile = tile_of(threads_of_row * width, thread_rows, rows, 1, 1, 1);
        tile.columns_of_thread = width;
        tiles.push_back(tile);
      }
  return tiles;
}

/// Returns the shapes of tiles that are tried. A thread loads up to 16 bytes of a row at once. In 2D, tiles
/// of one warp do not wait for each other; their blocks share registers evenly among four schedulers.
std::vector<SystemTile> shapes(int dimensions, Precision precision) {
  std::vector<SystemTile> tiles;
  const auto add = [&](int width, int warps_of_row, int thread_rows, int rows, int blocks,
                       std::initializer_list<int> planes_ahead) {
    for (const int ahead : planes_ahead)
      for (const bool in_ring : {false, true}) {
        SystemTile tile = tile_of(32 * warps_of_row * width, thread_rows, rows, ahead, blocks, ahead);
        tile.columns_of_thread = width;
        // Iterations of tiles of one warp are short, so blocks wait for each other half as often.
        if (tile.loads_itself()) tile.pace_lag = 2 * ahead;
        tile.level_0_in_ring = in_ring;
        tiles.push_back(tile);
      }
  };
  const bool is_double = precision == Precision::fp64;
  if (dimensions == 2)
    for (const int width : {4, 2})
      for (const int blocks : {32, 24, 20, 16, 12, 8}) add(width, 1, 1, 1, blocks, {2});
  for (const int width : is_double ? std::vector{2} : std::vector{4, 2})
    if (dimensions == 2) {
      for (const int warps : {2, 3})
        for (const int blocks : {8, 6, 5, 4, 3, 2}) add(width, warps, 1, 1, blocks, {4});
    } else {
      for (const int warps : {8, 12, 16})
        for (int rows = ceil_div(min_rows, warps); rows <= 8; ++rows) add(width, 1, warps, rows, 1, {2, 1});
    }
  return tiles;
}

/// Tries tiles for several steps of a system, one shape after the other. The arguments of the constructor
/// must outlive the search.
class TileSearch {
 public:
  struct Found {
    FusedTile tile;
    double cycles = 0;  // cycles of a launch, by the model
  };

  TileSearch(const Canonical& canonical, const std::vector<Domain>& fields, Precision precision,
             const BlockLimits& limits, const SystemGroup& group)
      : canonical_(canonical),
        precision_(precision),
        limits_(limits),
        group_(group),
        grid_(fields.front()),
        axes_(grid_axes(grid_)),
        walls_(walls_of_levels(fields)),
        reads_(reads_of(group)) {}

  /// Computes what all tiles for a number of steps have in common. Returns the reason if there can be no
  /// tile.
  std::optional<NoKernel> begin(const SystemFacts& facts, int steps, const std::vector<FilledFace>& filled);
  /// Tries all shapes of tiles.
  void look_at_all();
  /// Tries one shape, even if its values do not fit the registers of a thread.
  void look_at_given(const SystemTile& shape);

  std::vector<Found>& found() { return found_; }
  /// Returns the reason why no tile was found.
  NoKernel why_none() const;

 private:
  void look_at(const SystemTile& shape, bool must_suit_registers);
  void begin_splits();

  const Canonical& canonical_;
  Precision precision_;
  const BlockLimits& limits_;
  const SystemGroup& group_;
  const Domain& grid_;
  std::array<int, 3> axes_;
  std::vector<Domain> walls_;  // as levels see them
  std::vector<GroupRead> reads_;
  bool has_filled_faces_ = false, can_split_ = false;
  FusedTile fused_;  // the tile that is tried, without its filled faces
  std::vector<Found> found_;
  /// Holds the least bytes of shared memory among tiles that store any points.
  int smallest_ = std::numeric_limits<int>::max();
  bool has_reads_ = false;        // a tile reads points beside its own
  bool has_many_arrays_ = false;  // for tiles of one warp
};

std::optional<NoKernel> TileSearch::begin(const SystemFacts& facts, int steps,
                                          const std::vector<FilledFace>& filled) {
  fused_.steps = steps;
  for (const GroupInput& input : group_.inputs)
    if (!input.is_coefficient)
      for (int axis = 0; axis < axis_count; ++axis)
        fused_.reach[axis] = std::max(fused_.reach[axis], reach_of(input)[axis]);
  for (int axis = 0; axis < axis_count; ++axis)
    if (!grid_.periodic(axes_[axis]) && grid_.shape[axes_[axis]] < 2 * fused_.reach[axis])
      return NoKernel{"the grid is thinner than what a step reads"};
  if (auto none = why_not_between(filled, fused_, group_, reads_, walls_, axes_)) return none;
  has_filled_faces_ = !filled.empty();
  for (const Domain& field : walls_)
    fused_.reflects =
        fused_.reflects || reflects(field, axes_[row_axis]) || reflects(field, axes_[column_axis]);
  can_split_ = can_split(facts, group_, walls_, axes_, fused_.lag());
  return {};
}

void TileSearch::begin_splits() {
  fused_.splits = true;
  fused_.kept = 0;
  fused_.sums = group_.split->sums;
}

void TileSearch::look_at_all() {
  for (const SystemTile& shape : shapes(grid_.dimensions, precision_)) look_at(shape, true);
  if (!can_split_) return;
  begin_splits();
  for (const SystemTile& shape : shapes_of_split(precision_)) look_at(shape, true);
}

void TileSearch::look_at_given(const SystemTile& shape) {
  if (can_split_) begin_splits();
  look_at(shape, false);
}

void TileSearch::look_at(const SystemTile& shape, bool must_suit_registers) {
  if (must_suit_registers && shape.loads_itself() && group_.inputs.size() > max_arrays_of_one_warp) {
    has_many_arrays_ = true;
    return;
  }
  fused_.tile = shape;
  fused_.tile.level_0_in_ring = shape.level_0_in_ring && !fused_.splits;
  const bool is_row_of_warp = shape.columns == threads_of_warp * shape.columns_of_thread;
  fused_.mirrors = fused_.reflects && is_row_of_warp && !fused_.splits && fused_.reach[row_axis] <= 1 &&
                   fused_.reach[column_axis] <= 1;
  if (!fused_.splits)
    fused_.kept = can_keep(group_, reads_, walls_, axes_, fused_.mirrors) ? group_.kept->values : 0;
  // Threads of a row must have the ghost points that are read.
  const bool can_take = group_.taken && fused_.kept > 0 && !fused_.reflects && is_row_of_warp;
  fused_.taken = can_take ? group_.taken->taken : 0;
  fused_.operations = fused_.taken > 0  ? group_.taken->operations
                      : fused_.kept > 0 ? group_.kept->operations
                                        : group_.operations;
  if (!find_reads(fused_, group_, reads_, is_row_of_warp)) return;
  if (has_filled_faces_ && fused_.reflects && !fused_.mirrors) return;
  has_reads_ = true;
  lay_out_levels(fused_, group_, canonical_, walls_, precision_, limits_);
  if (fused_.useful_rows() <= 0 || fused_.useful_columns <= 0) return;
  smallest_ = std::min(smallest_, fused_.tile.shared_bytes);
  if (must_suit_registers ? fits_fused(fused_, precision_, limits_) : fits(fused_.tile, limits_))
    found_.push_back({fused_, fused_cycles(fused_, grid_, precision_, limits_)});
}

NoKernel TileSearch::why_none() const {
  if (!has_reads_ && has_many_arrays_)
    return {"a step reads " + std::to_string(group_.inputs.size()) + " arrays, and tiles of one warp take " +
            std::to_string(max_arrays_of_one_warp)};
  if (!has_reads_) return {"fields are read at points displaced along the slowest axis and another"};
  if (smallest_ == std::numeric_limits<int>::max()) return {"tiles overlap completely"};
  const auto available = static_cast<int>(limits_.shared_bytes);
  return {smallest_ > available
              ? "the levels of a tile take at least " + std::to_string(smallest_) + " of " +
                    std::to_string(available) + " bytes of shared memory"
              : "tiles need more registers than their threads get, at most " + std::to_string(max_registers)};
}

using FoundTiles = std::vector<TileSearch::Found>;

/// Returns the tiles that fit, the fastest first, without their filled faces; or the one of the shape
/// `given`.
OrNoKernel<FoundTiles> found_tiles(const Canonical& canonical, const SystemFacts& facts,
                                   const std::vector<Domain>& fields, Precision precision, int steps,
                                   const BlockLimits& limits, const std::optional<SystemTile>& given,
                                   const std::vector<FilledFace>& filled) {
  auto written =
      group_of(canonical, fields, 0, static_cast<int>(canonical.equations.size()), grid_axes(fields.front()));
  if (auto* none = std::get_if<NoKernel>(&written)) return std::move(*none);
  const auto& group = std::get<SystemGroup>(written);
  if (auto none = why_not(canonical, facts, group, fields, steps)) return *std::move(none);
  TileSearch search(canonical, fields, precision, limits, group);
  if (auto none = search.begin(facts, steps, filled)) return *std::move(none);
  if (given)
    search.look_at_given(*given);
  else
    search.look_at_all();
  FoundTiles found = std::move(search.found());
  if (found.empty()) return search.why_none();
  std::ranges::stable_sort(found, {}, &TileSearch::Found::cycles);
  return found;
}

}  // namespace

bool fits_fused(const FusedTile& fused, Precision precision, const BlockLimits& limits) {
  const SystemTile& tile = fused.tile;
  if (fused.useful_rows() <= 0 || fused.useful_columns <= 0 || !fits(tile, limits)) return false;
  const int words = precision == Precision::fp64 ? 2 : 1;
  // Registers hold these values of every point: values of levels, results, and coefficients of further
  // planes.
  int values = fused.held() + static_cast<int>(fused.levels.size());
  for (const InputRing& ring : tile.rings)
    if (ring.is_coefficient && fused.kept == 0) values += ring.high[0] - ring.low[0];
  const double besides_alone =
      std::max(registers_besides_alone, registers_besides_levels + registers_of_level * fused.steps);
  const auto [besides, of_value] = fused.splits ? std::pair(registers_besides_split, registers_of_split_value)
                                   : tile.loads_itself() ? std::pair(besides_alone, registers_of_value_alone)
                                   : tile.blocks > 1
                                       ? std::pair(registers_besides_in_blocks, registers_of_value)
                                       : std::pair(registers_besides, registers_of_value);
  const double needed = besides + of_value * words * values * tile.rows_of_thread * tile.columns_of_thread;
  const int warps = ceil_div(tile.all_threads(limits) / 32 * tile.blocks, schedulers_of_multiprocessor),
            equal = registers_of_multiprocessor / schedulers_of_multiprocessor / (32 * warps) / 8 * 8,
            available = std::max(equal, fused.registers(limits).computing);
  return needed <= std::min(available, max_registers);
}

std::vector<int> FusedTile::written_before(const std::vector<int>& fields) const {
  std::vector<int> statements;
  for (int s = 0; s < static_cast<int>(levels.size()); ++s)
    if (levels[static_cast<std::size_t>(s)].is_read_before) statements.push_back(s);
  std::sort(statements.begin(), statements.end(), [&](int a, int b) {
    return fields[static_cast<std::size_t>(a)] < fields[static_cast<std::size_t>(b)];
  });
  return statements;
}

int FusedTile::newest(int level, const LevelRings& of) const {
  return level > 0      ? lag()
         : of.input < 0 ? of.low - 1
                        : tile.rings[static_cast<std::size_t>(of.input)].high[0];
}

int FusedTile::oldest(int level, const LevelRings& of) const {
  const bool waits = of.is_read_before && level + 2 <= steps;
  if (splits) return std::min(of.low, lag() + of.begin_low) + (level == 0 && waits ? moved_planes : 0);
  return waits ? -lag() : of.low;
}

int FusedTile::held() const {
  int values = 0, shared_newest = 0;
  for (const LevelRings& of : levels) shared_newest += of.pitch > 0;
  for (int level = tile.level_0_in_ring; level < steps; ++level) {
    for (const LevelRings& of : levels) values += std::max(0, newest(level, of) - oldest(level, of));
    if (splits) values += level == 0 ? sums * lag() : sums * (lag() - 1) - shared_newest;
    if (keeps(level + 1)) values += kept;
  }
  return values;
}

FusedTile::Registers FusedTile::registers(const BlockLimits& limits) const {
  const int computing = tile.threads() / 32, helping = tile.all_threads(limits) / 32 - computing;
  if (!limits.copy_engine() || tile.blocks > 1 || computing % warps_of_warpgroup != 0 ||
      helping != warps_of_warpgroup)
    return {};
  // All warps of a block start with equal shares of registers, in whole allocation units; later some warps
  // give registers to others.
  const int warps = computing + helping,
            equal = std::min(registers_of_multiprocessor / (32 * warps), max_registers) / 8 * 8,
            of_helper = splits ? registers_of_split_helper : registers_of_helper;
  const int share = (equal * warps - helping * of_helper) / computing;
  return {std::min(share, max_registers) / 8 * 8, of_helper};
}

namespace {

/// Returns the time of an iteration, divided by the time that its instructions and its memory traffic take.
double slowdown(const FusedTile& fused, const Calibration::FusedSteps& costs) {
  if (fused.splits) return costs.split;
  return fused.reach[plane_axis] >= wide_reach ? costs.wide : 1.0;
}

/// Returns true if threads compute ghost points beyond walls. Beyond walls of the value 0, copies fill them
/// with zeros.
bool makes_ghosts(const Domain& grid, Precision precision) {
  return std::ranges::any_of(grid_axes(grid), [&](int axis) {
    return !grid.periodic(axis) && !has_zero_walls(grid, axis, precision);
  });
}

}  // namespace

double fused_cycles(const FusedTile& fused, const Domain& grid, Precision precision,
                    const BlockLimits& limits, double memory_speed) {
  const Calibration::FusedSteps& costs = limits.costs().fused_steps;
  const std::array<int, 3> axes = grid_axes(grid);
  const SystemTile& tile = fused.tile;
  // Where tiles are more than one wave, launches take fewer iterations than this estimate with equal
  // stretches (share_paced_march()). With the true number the model would choose small tiles, which are
  // slower than it predicts.
  const std::int64_t planes = grid.shape[axes[0]],
                     tiles = ceil_div<std::int64_t>(grid.shape[axes[1]], fused.useful_rows()) *
                             ceil_div<std::int64_t>(grid.shape[axes[2]], fused.useful_columns),
                     resident = std::int64_t{limits.multiprocessors} * tile.blocks,
                     stretch = balanced_stretch(planes, tiles, resident, fused.warm_up()),
                     waves = ceil_div(tiles * ceil_div(planes, stretch), resident);
  const int points_of_thread = tile.rows_of_thread * tile.columns_of_thread;
  const double of_point = fused.operations + fused.held() / static_cast<double>(fused.steps) +
                          (costs.statement_slots + (makes_ghosts(grid, precision) ? costs.wall_slots : 0)) *
                              static_cast<double>(fused.levels.size());
  const double of_thread = tile.rows_of_thread * costs.row_slots +
                           (tile.loads_itself() ? 0 : costs.level_slots);  // to share rows with others
  const double of_level =
      (points_of_thread * of_point + of_thread) * (precision == Precision::fp64 ? costs.fp64_slots : 1.0);
  const double warps_of_scheduler =
      tile.threads() * tile.blocks / 32.0 / static_cast<double>(schedulers_of_multiprocessor);
  const double waited_for = tile.loads_itself() ? costs.waited_for_alone : costs.waited_for;
  const double issue = fused.steps * of_level * (warps_of_scheduler + waited_for) +
                       (tile.loads_itself() ? costs.load_slots * warps_of_scheduler : 0);
  const double useful = static_cast<double>(fused.useful_rows()) * fused.useful_columns;
  double bytes = 0;
  for (const InputRing& ring : tile.rings) {
    const double element = ring.plane_bytes / (static_cast<double>(ring.rows) * ring.pitch);
    bytes += element * (useful + costs.halo_share * (static_cast<double>(ring.rows) * ring.pitch - useful));
  }
  for (const LevelRings& level : fused.levels)
    bytes += (level.is_read_before ? 2 : 1) * useful * static_cast<double>(storage_bytes(precision));
  const double memory = bytes * tile.blocks / (costs.bytes_per_cycle * memory_speed);
  const double mean =
      std::pow(std::pow(issue, costs.overlap) + std::pow(memory, costs.overlap), 1 / costs.overlap);
  return static_cast<double>(waves * (stretch + fused.warm_up())) * slowdown(fused, costs) *
         (mean * (fused.mirrors    ? costs.mirroring
                  : fused.reflects ? costs.reflecting
                                   : 1.0) +
          (tile.loads_itself() ? 0 : costs.barrier_cycles));
}

OrNoKernel<std::vector<FusedTile>> fused_tiles(const Canonical& canonical, const SystemFacts& facts,
                                               const std::vector<Domain>& fields, Precision precision,
                                               int steps, const BlockLimits& limits) {
  auto found = found_tiles(canonical, facts, fields, precision, steps, limits, {}, {});
  if (auto* const none = std::get_if<NoKernel>(&found)) return std::move(*none);
  std::vector<FusedTile> tiles;
  for (TileSearch::Found& one : std::get<FoundTiles>(found)) tiles.push_back(std::move(one.tile));
  return tiles;
}

OrNoKernel<FusedTile> fused_tile(const Canonical& canonical, const SystemFacts& facts,
                                 const std::vector<Domain>& fields, Precision precision, int steps,
                                 const BlockLimits& limits, const std::optional<SystemTile>& given,
                                 const std::vector<FilledFace>& filled) {
  auto found = found_tiles(canonical, facts, fields, precision, steps, limits, given, filled);
  if (auto* const none = std::get_if<NoKernel>(&found)) return std::move(*none);
  FusedTile tile = std::move(std::get<FoundTiles>(found).front().tile);
  tile.filled = filled;
  return tile;
}

}  // namespace spsolve::cuda
