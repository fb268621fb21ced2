// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/operator/canonical.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve::cuda {

/// Names an array that a group of statements reads: a field at a time level, or a derived coefficient.
struct GroupInput {
  bool is_coefficient = false;
  int index = 0;             // number of the field or the coefficient
  Level level = Level::now;  // level of a field; `next` is the value that an earlier group has given it
  std::string name = {};     // its name in the text of the group
  std::vector<std::array<int, 3>> offsets = {};  // offsets at which it is read, in kernel axes, each once
};

/// Returns how far an input is read along each kernel axis, on either side.
std::array<int, 3> reach_of(const GroupInput& input);

/// Is a read of an input of a group, displaced along kernel axes.
struct GroupRead {
  int input = 0;
  std::array<int, 3> offset{};
};

/// Holds the function of a group in three parts, for marches that begin sums as soon as a plane has arrived,
/// and add to them as the next planes arrive. `begin_points(at)` reads fields in the plane of the points of a
/// thread and before it: at.add<array, plane, row, column>(sums, weight) adds the values that the points read
/// to their sums, and at.hold<i>(sums) keeps the sums. `continue_points(at)` adds the newest value of a field
/// at the column of each point: at.add<i, array, plane, 0, 0>(weight) adds it to the sum that reads it
/// `plane` planes ahead. `advance_point(at, next)` takes the whole sum of a point as at.begun<i>(), and reads
/// fields at the column of the point alone. The order of all operations is that of the whole function.
struct SplitGroup {
  std::string text;
  int sums = 0;                                    // sums that are begun
  std::vector<GroupRead> sum_reads, finish_reads;  // reads of sums, and of what is computed from them
};

/// Holds the function of a group for marches that keep values from one plane to the next. Where a value is
/// computed at a point and also at the point one plane before it, the function reuses the value that the last
/// plane has kept. Sums of values in planes before that of the point are kept in the same way.
/// `advance_kept_point(at, next)` takes value i of the last plane as at.kept<i>() and gives that of its own
/// plane to at.keep<i>(value). All operations and their order are those of the whole function.
///
/// Where a value is also computed at the point one column before, a thread may take it from the thread that
/// has that point: at.taken<i>(), where Point::takes is true. `taken_values(at, values)` computes the values
/// that a thread gives to the next one. The function then is `advance_taken_point(at, next)`.
struct KeptGroup {
  std::string text;
  int values = 0;      // values that are kept of a point
  int planes = 1;      // the largest number of planes for which a value is kept
  int taken = 0;       // values that are taken from another thread
  int operations = 0;  // operations at a point, without those of values that are taken
  /// Is true if values of the plane before that of a point are read even if that plane lies beyond a wall.
  /// Values of `.next` there come from the wall instead.
  bool reads_beyond_walls = false;
  std::vector<GroupRead> reads;  // without reads that are needed only where values are not taken
};

/// Holds a group of statements (SystemFacts::groups) as CUDA C++: the function that one kernel computes at a
/// point.
struct SystemGroup {
  int first = 0, last = 0;  // statements [first, last)
  std::vector<GroupInput> inputs = {};
  /// Holds the function `advance_point(at, next)`, which sets next[s - first] to the value of each statement
  /// s. at.read<array, plane, row, column>() is the value of an input at a displaced point, at.scalar<i>() a
  /// scalar; at.is_beyond<axis, displacement>() is true if the point displaced along a kernel axis lies
  /// beyond a face of the grid. Names are those of the input. The text ends with the function and uses the
  /// type Compute.
  std::string text = {};
  int operations = 0;  // at a point
  /// Has a value if the group has sums that can be begun, and reads no field in other rows and columns
  /// besides.
  std::optional<SplitGroup> split = {};
  /// Has a value if a march holds no more values with it than without.
  std::optional<KeptGroup> kept = {};
  /// Is `kept` with values that are taken from other threads. Has a value if fewer numbers then pass between
  /// threads.
  std::optional<KeptGroup> taken = {};

  int statements() const { return last - first; }
};

/// Writes statements [first, last) of a system in the order of the canonical form, so that every rounding is
/// that of canonical_step(). `fields` holds the walls of each field; `axes` holds the grid axis of each
/// kernel axis.
///
/// Where a statement reads `.next` of an earlier statement at a displaced point, the earlier statement is
/// computed there once more. Beyond a wall with a value, at.is_beyond<axis, displacement>() selects the
/// value. Beyond a reflecting wall it selects the result of the earlier statement at the wall, which is right
/// for displacements of one point. region_of_united_groups() says where the group may be used.
///
/// Returns the reason if the group has more operations, or reads and writes more arrays, than a kernel takes,
/// or the system has more scalars.
OrNoKernel<SystemGroup> group_of(const Canonical& canonical, const std::vector<Domain>& fields, int first,
                                 int last, const std::array<int, 3>& axes);

/// Throws Error(invalid_input) that names [equations] step, says why no kernel takes it, and names the device
/// that does.
[[noreturn]] void refuse_step(const NoKernel& none);

/// Returns the part of a region where all groups of statements can be one group: where a statement reads
/// `.next` of another beyond a wall there, the wall has a value, or reflects and is one point away at most.
/// `fields` holds the walls of each field.
Box region_of_united_groups(const SystemFacts& facts, const std::vector<Domain>& fields, const Box& region);

}  // namespace spsolve::cuda
