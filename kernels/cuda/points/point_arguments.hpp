// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of points.cuh. Both the host compiler and NVRTC read this file: it has
// no includes and no library types.

namespace spsolve::cuda {

constexpr unsigned point_threads = 128;  // threads of a block

/// Limits the number of fields of which points are changed or recorded.
constexpr int max_point_fields = 96;

/// Describes a point of a field, and the column of its amount or value.
struct DevicePoint {
  long long element;  // from the first owned point of the field
  int field, column;
};

/// Holds the arguments of one launch.
struct PointArguments {
  const DevicePoint* points;
  int count;
  void* values;                    // amounts of a step, or the row that is recorded, in compute precision
  void* fields[max_point_fields];  // where their first owned points lie
};

/// Holds the share of a recorded point in a value.
struct DeviceShare {
  double weight;
  unsigned point;
};

/// Counts the rows that a thread of combine_points() computes.
constexpr unsigned rows_per_thread = 4;

/// Holds the arguments of a launch that computes values from recorded points. Value columns[i] of a row is
/// the sum of the shares [starts[i], starts[i + 1]). Rows of points lie in a ring; the first row lies at
/// place `first`.
struct CombineArguments {
  const DeviceShare* shares;
  const unsigned* starts;
  const unsigned* value_columns;
  unsigned values;
  const void* points;  // `ring` rows of `columns` points
  long long columns;
  unsigned ring, first, rows;
  void* out;  // `rows` rows of `values` values
};

/// Limits the steps that launches of several steps record: kernels divide numbers of 32 bits.
constexpr long long last_recorded_step = 0x7fffffff;

/// Describes a group of recorded points. Row i holds the values of step i * every and lies at place i % rows.
struct RecordedGroup {
  unsigned every, rows;
  long long columns;
  void* values;  // in compute precision
};

}  // namespace spsolve::cuda
