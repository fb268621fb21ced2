// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/decomposition.hpp"
#include "kernels/domain.hpp"
#include "kernels/packing.hpp"

namespace spsolve {

/// Describes a part of one rank's halo that copies points owned by one rank.
struct HaloRegion {
  int peer = 0;  // the rank at the other end; may be this rank itself (periodic or reflected axes)
  Box box;  // in this rank's coordinates: halo points when receiving; owned points (and halo, in slabs) when
            // sending
  Reflection reflection = {};  // transformation that the receiver applies to the values
};

/// Lists the regions that one rank sends and receives in an exchange. Both ends use the same order: for any
/// pair of ranks, the k-th region sent is the k-th region received, and has the same extent.
struct HaloRegions {
  std::vector<HaloRegion> send;
  std::vector<HaloRegion> receive;
};

/// Returns the regions of `rank` for a halo of `width` points on every side of its block. Blocks, and even
/// the grid, may be thinner than the halo: it then comes from ranks further away, or from several periodic
/// copies of one block. Points beyond a wall are reflections if the axis is reflected, and are left out
/// otherwise.
HaloRegions halo_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width);

/// Returns true if the halo of every block, along all axes that are cut, lies in the adjacent blocks.
bool reaches_next_blocks_only(const Decomposition& decomposition, const Index3& width);

/// Returns the regions of the same halo for an exchange in two rounds. First every rank copies its own points
/// to its halo; then slabs that include these copies are sent. There are few slabs, and their rows are whole
/// if x is not cut. Requires reaches_next_blocks_only().
HaloRegions slab_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width);

/// Returns the points that can be advanced before anything has arrived from other ranks: the block shrunk by
/// `width` along the axes that are cut. They may read periodic copies of the rank's own points. The box is
/// empty if there are no such points.
Box interior(const Domain& domain, const Decomposition& decomposition, int rank, const Index3& width);

}  // namespace spsolve
