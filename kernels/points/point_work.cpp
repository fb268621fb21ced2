// SPDX-License-Identifier: Apache-2.0
#include "kernels/points/point_work.hpp"

#include "kernels/rounding.hpp"

namespace spsolve {

std::vector<Index3> images_of(const Index3& p, const Domain& domain, const Box& box) {
  std::vector<Index3> images{p};
  for (int axis = 0; axis < axis_count; ++axis) {
    std::vector<Index3> more;
    for (Index3 image : images) {
      const std::int64_t n = domain.shape[axis];
      if (domain.periodic(axis)) {
        image[axis] -= floor_div(image[axis] - box.begin[axis], n) * n;  // the first in the box
        for (; image[axis] < box.end[axis]; image[axis] += n) more.push_back(image);
      } else if (image[axis] >= box.begin[axis] && image[axis] < box.end[axis]) {
        more.push_back(image);
      }
    }
    images = std::move(more);
  }
  return images;
}

}  // namespace spsolve
