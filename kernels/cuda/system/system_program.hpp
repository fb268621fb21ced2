// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/cuda/system/system_group.hpp"
#include "kernels/cuda/system/system_tile.hpp"
#include "kernels/field.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve::cuda {

class ConstantsText;

/// Is the type of arguments on the host, with room for the largest number of arrays.
using HostArguments = SystemArguments<max_system_arrays>;

/// Holds the fields that a launch of a group reads and writes, all in device memory.
struct GroupFields {
  std::vector<const Field*> inputs;  // in the order of SystemGroup::inputs
  std::vector<Field*> outputs;       // by statement; then values one step before, of fields with .previous
};

/// Holds a group of statements with the walls and the precision that its kernels are compiled for.
class SystemProgram {
 public:
  /// Makes the program of statements [first, last), or returns the reason of group_of() why no kernel takes
  /// them. `fields` holds the grid with the walls of each field.
  static OrNoKernel<SystemProgram> make(const Canonical& canonical, const std::vector<Domain>& fields,
                                        int first, int last, Precision precision);

  const SystemGroup& group() const { return group_; }
  /// Returns constants.cuh of point_group.cuh.
  std::string point_constants() const;
  /// Returns constants.cuh of march_group.cuh.
  std::string march_constants(const SystemTile& tile, const BlockLimits& limits) const;
  /// Returns constants.cuh of march_steps.cuh.
  std::string fused_constants(const FusedTile& fused, const BlockLimits& limits) const;
  /// Returns the tile of a march, or a tile of the shape `given`. Returns nothing if it does not fit into
  /// shared memory.
  std::optional<SystemTile> tile(const BlockLimits& limits,
                                 const std::optional<SystemTile>& given = {}) const;

  /// Returns the arguments of a launch that computes statement s of the group on boxes[s], and further
  /// outputs on the boxes after those. A march also takes place_tiles(). Launches of several steps take the
  /// scalars of all steps, one after the other.
  HostArguments arguments(const GroupFields& fields, const std::vector<Box>& boxes,
                          const std::vector<double>& scalars) const;
  /// Lays tiles over the region of the arguments and cuts their march into chunks, so that `resident` blocks
  /// at once take all of them in few waves.
  void place_tiles(HostArguments& arguments, const GroupFields& fields, const SystemTile& tile,
                   std::int64_t resident) const;
  /// Does the same for tiles of a march of several steps, which overlap. Throws std::invalid_argument if rows
  /// of coefficients are not aligned as those of fields are (Field::aligned_column()).
  void place_fused_tiles(HostArguments& arguments, const GroupFields& fields, const FusedTile& fused,
                         std::int64_t resident) const;
  /// Returns the points of every input beyond a wall x = 0 that the copies of a march read, which must hold
  /// 0. Copies fill zeros beyond walls of the value 0 where they begin at the wall, but they begin at
  /// multiples of 16 bytes: in a block whose halo holds the wall, this may be some columns before it.
  std::vector<Box> ghosts_in_copies(const HostArguments& arguments, const GroupFields& fields) const;

 private:
  SystemProgram(const Canonical& canonical, const std::vector<Domain>& fields, SystemGroup group,
                Precision precision);
  /// Returns the walls of an input in kernel axes; none for coefficients.
  Beyond beyond(const GroupInput& input, int axis, Side side) const;
  /// Returns the value of a face with a value in kernel axes, as a field stores it.
  double face_value(const GroupInput& input, int axis, Side side) const;
  /// Returns true if both walls of an axis have the value 0 (not -0), so that the copies of marches fill
  /// their ghost points.
  bool copies_zeros(const GroupInput& input, int axis) const;
  std::string constants(const SystemTile* tile, int all_threads, const FusedTile* fused = nullptr,
                        FusedTile::Registers registers = {}) const;
  /// Holds what lies beyond the faces of an input, and the value of ghost points there: [axis][side].
  struct InputWalls {
    std::array<std::array<Beyond, 2>, 3> beyond{};
    std::array<std::array<double, 2>, 3> value{};
  };
  InputWalls walls_of(const GroupInput& input) const;
  /// Writes a table of what lies beyond faces, and a table of the values there.
  static void add_walls(ConstantsText& text, const char* name, const char* value_name,
                        const std::string& count, const std::vector<InputWalls>& all);
  /// Writes the shape of a tile and its rings. `count` is the size of tables that hold a value per input.
  void add_constants_of_tile(ConstantsText& text, const SystemTile& tile, const std::string& count,
                             bool is_fused) const;
  /// Writes the walls as levels see them. Ghost points beyond filled faces are computed from the points that
  /// they mirror.
  void add_walls_of_levels(ConstantsText& text, const FusedTile& fused) const;
  /// Writes tables of the reads of a march of several steps.
  void add_reads(ConstantsText& text, const FusedTile& fused) const;
  void add_constants_of_levels(ConstantsText& text, const FusedTile& fused) const;
  /// Writes tables of the planes of levels that shared memory holds for each statement.
  static void add_rings_of_levels(ConstantsText& text, const FusedTile& fused);
  /// Lets the memory of inputs end at walls beyond which copies fill zeros.
  void end_copies_at_zeros(HostArguments& arguments, const GroupFields& fields) const;
  /// Places columns of tiles, whose threads begin `margin` columns before the first that is stored.
  void place_columns(HostArguments& arguments, const GroupFields& fields, const SystemTile& tile, int useful,
                     int margin) const;

  std::vector<Domain> fields_;
  Precision precision_;
  std::array<int, 3> axes_;
  SystemGroup group_;
  std::string comment_;  // the canonical form
  int scalars_ = 0;      // scalars of a step
  std::vector<int> fields_of_statements_;
};

/// Returns the memory of an array of elements of `element_bytes` bytes, within its `begin` and `end`.
View view_of(const SystemArray& array, std::int64_t element_bytes);

}  // namespace spsolve::cuda
