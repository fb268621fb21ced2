// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/box.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {

/// Returns where every node is read for the value of `root` on a box; empty where it is not read at all. Of
/// the box {0, 0, 0} alone these are the offsets at which nodes are read.
std::vector<Box> needed_boxes(const Canonical& canonical, const Reading& root, const Box& box);

}  // namespace spsolve
