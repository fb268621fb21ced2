// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/packing.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Reads boxes of fields of one geometry, in the memory of any backend. A box is packed into a buffer, which
/// travels to the host, so the cost of reading a plane does not depend on the size of the field.
class BoxValues {
 public:
  /// `boxes` lists boxes of owned points of fields with the geometry and precision of `like`; some may be
  /// empty. The backend must outlive this object.
  BoxValues(Backend& backend, const Field& like, std::vector<Box> boxes);

  const Box& box(std::size_t number) const { return boxes_[number]; }
  /// Returns the values of a box of `field`, x fastest. Waits for enqueued work.
  std::vector<double> of(Field& field, std::size_t number) const;

 private:
  Backend* backend_;
  std::vector<Box> boxes_;
  std::unique_ptr<Field> row_;                           // null if all boxes are empty
  std::vector<std::unique_ptr<PreparedCopies>> copies_;  // null for empty boxes
};

}  // namespace spsolve
