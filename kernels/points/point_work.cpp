// SPDX-License-Identifier: Apache-2.0
#include "kernels/points/point_work.hpp"

#include "kernels/rounding.hpp"

namespace spsolve {

std::vector<Index3> periodic_copies_of(const Index3& p, const Domain& domain, const Box& box) {
  std::vector<Index3> copies{p};
  for (int axis = 0; axis < axis_count; ++axis) {
    std::vector<Index3> more;
    for (Index3 copy : copies) {
      const std::int64_t n = domain.shape[axis];
      if (domain.periodic(axis)) {
        copy[axis] -= floor_div(copy[axis] - box.begin[axis], n) * n;  // the first in the box
        for (; copy[axis] < box.end[axis]; copy[axis] += n) more.push_back(copy);
      } else if (copy[axis] >= box.begin[axis] && copy[axis] < box.end[axis]) {
        more.push_back(copy);
      }
    }
    copies = std::move(more);
  }
  return copies;
}

}  // namespace spsolve
