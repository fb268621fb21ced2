// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/decomposition.hpp"
#include "kernels/domain.hpp"
#include "kernels/packing.hpp"

namespace spsolve {

/// A part of one rank's halo that is a copy of points which one rank owns.
struct HaloRegion {
  int peer = 0;  // the rank at the other end; may be the rank itself (periodic or mirrored axes)
  Box box;  // in the coordinates of this rank's block: halo points when receiving, owned points (and halo, in
            // slabs) when sending
  Image image = {};  // of what is sent, which the receiver makes
};

/// What one rank sends and receives in an exchange, in the order in which both ends agree. For any pair of
/// ranks, the k-th region that one sends to the other is the k-th that the other receives from it, of the
/// same extent.
struct HaloRegions {
  std::vector<HaloRegion> send;
  std::vector<HaloRegion> receive;
};

/// The regions of `rank` for a halo of `width` points on every side of its block. A block may be thinner than
/// the halo, and the grid too: the halo then comes from ranks further away, or from several periodic images
/// of one. Points outside a wall are images if its axis is mirrored; else they belong to nobody and are left
/// out.
HaloRegions halo_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width);

/// Whether the halo of every block along the axes that are cut belongs to the next block on either side.
bool reaches_next_blocks_only(const Decomposition& decomposition, const Index3& width);

/// The regions of the same halo for exchanges in two rounds: first every rank copies images of its own
/// points, then slabs travel that include what the first round filled. They are few, and their rows are whole
/// where x is not cut. Only where reaches_next_blocks_only().
HaloRegions slab_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width);

/// Points that can be advanced before anything has arrived from other ranks: the block shrunk by `width`
/// along the axes that are cut. Periodic images of the rank's own points it may need. Empty if nothing can.
Box interior(const Domain& domain, const Decomposition& decomposition, int rank, const Index3& width);

}  // namespace spsolve
