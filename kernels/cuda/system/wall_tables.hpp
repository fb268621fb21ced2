// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/system/fill_walls_arguments.hpp"
#include "kernels/field.hpp"
#include "kernels/operator/filled_face.hpp"

namespace spsolve::cuda {

/// Lays out the tables of a kernel that fills ghost points: for each layer the numbers by which a ghost value
/// follows from its mirrored point, and the values c of every face at the points beside which a block has
/// ghost points. The tables hold doubles and belong to the caller, in any memory: one table for everything
/// constant, and one for each time level of the values that change.
class WallTables {
 public:
  /// `fields` holds the grid with the walls of each field. `allocated` are the points of a block that have
  /// memory, and `halo` its width.
  WallTables(std::span<const FilledFace> faces, std::vector<Domain> fields, const Box& allocated,
             const Index3& halo);

  const std::vector<Domain>& fields() const { return fields_; }
  const Box& allocated() const { return allocated_; }

  /// Returns how many numbers a table has.
  std::size_t constant_size() const { return constant_size_; }
  std::size_t level_size() const { return level_size_; }
  /// Fills tables: that of what does not change, and those of the time levels from `step` on, one after
  /// the other. All threads take part.
  void write_constants(std::span<double> table) const;
  void write_levels(std::int64_t step, std::span<double> tables) const;

  /// Returns a face as kernels see it, with the addresses of tables on the device.
  WallFace face(int field, int axis, Side side, const double* constants, const double* level) const;

 private:
  struct Placed {
    FilledFace face;
    Box section;  // the points of the face that have a value in the table
    bool varies_along_face, varies_in_time;
    std::size_t layers, values;  // where they begin in their tables

    std::size_t size() const;  // values of the face
    std::size_t line() const;  // values of one line
    void write(std::int64_t step, double* table) const;
  };
  Box section_of(const FilledFace& face) const;

  std::vector<Domain> fields_;
  Box allocated_;
  Index3 halo_;
  std::vector<Placed> placed_;
  std::size_t constant_size_ = 0, level_size_ = 0;
};

/// Describes an array of a field whose ghost points are filled with walls of a time level.
struct GhostsOf {
  int field;
  Field* array;
  const double* level;  // table of the time level
};

/// Returns the arguments of a launch that fills the ghost points of up to max_filled_arrays arrays that
/// mirror points of `known`, a box of points of the grid (and of periodic copies beyond it).
FillArguments fill_arguments(const WallTables& tables, std::span<const GhostsOf> arrays,
                             const double* constants, const Box& known);

}  // namespace spsolve::cuda
