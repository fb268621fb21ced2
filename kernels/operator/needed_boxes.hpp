// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/box.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {

/// Returns, per node, the box on which it is read for the value of `root` on `box`; the box is empty if the
/// node is not read. For a `box` that holds only the origin these are the offsets at which nodes are read.
std::vector<Box> needed_boxes(const Canonical& canonical, const Reading& root, const Box& box);

}  // namespace spsolve
