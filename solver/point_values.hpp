// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/packing.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Reads and changes some points of fields of one geometry, in the memory of any backend. The points are
/// gathered into a field of one row, which travels to the host and back.
class PointValues {
 public:
  /// `points` are owned points of fields with the geometry and precision of `like`, each named once; there
  /// may be none. The backend must outlive this object.
  PointValues(Backend& backend, const Field& like, std::vector<Index3> points);

  const std::vector<Index3>& points() const { return points_; }
  /// Returns the values of the points of `field`, in their order. Waits for enqueued work.
  std::vector<double> of(Field& field) const;
  /// Adds amounts[i] to point i. Amount and sum are rounded once each to the compute precision of the field,
  /// and the result to its storage precision.
  void add(Field& field, std::span<const double> amounts) const;

 private:
  Backend* backend_;
  std::vector<Index3> points_;
  std::unique_ptr<Field> row_;  // null if there are no points
  std::unique_ptr<Packing> gather_, scatter_;
};

}  // namespace spsolve
