// SPDX-License-Identifier: Apache-2.0
#include "halo/regions.hpp"

#include <algorithm>
#include <array>

namespace spsolve {
namespace {

/// Along one axis: the part [begin, end) of block `home` grown by its halo that is image `image` of block
/// `other`, in home's coordinates. Image k of a point i lies at i + k * n; only a periodic axis has images
/// other than 0.
struct Segment {
  std::int64_t other;
  std::int64_t image;
  std::int64_t begin, end;
};

std::vector<Segment> segments(const Domain& domain, const Decomposition& decomposition, int axis,
                              std::int64_t home, std::int64_t width) {
  const std::int64_t n = domain.shape[axis];
  std::int64_t begin = decomposition.block_begin(axis, home) - width;
  std::int64_t end = decomposition.block_begin(axis, home + 1) + width;
  if (!domain.periodic(axis)) {
    begin = std::max<std::int64_t>(begin, 0);
    end = std::min(end, n);
  }
  std::vector<Segment> result;
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t local = wrap(i, n), image = (i - local) / n;
    const std::int64_t other = decomposition.block_of(axis, local);
    const std::int64_t stop = std::min(end, decomposition.block_begin(axis, other + 1) + image * n);
    result.push_back({other, image, i, stop});
    i = stop;
  }
  return result;
}

/// The blocks along an axis whose grown range holds an image of block `home`, with that range's part in the
/// coordinates of home: the mirror image of segments(), found by looking at the blocks that can be in reach.
std::vector<Segment> reverse_segments(const Domain& domain, const Decomposition& decomposition, int axis,
                                      std::int64_t home, std::int64_t width) {
  // Home's points are wanted by the owners of the points within `width` of it.
  std::vector<Segment> result;
  std::vector<std::int64_t> seen;
  for (const Segment& near : segments(domain, decomposition, axis, home, width)) {
    if (std::find(seen.begin(), seen.end(), near.other) != seen.end()) continue;
    seen.push_back(near.other);
    for (const Segment& theirs : segments(domain, decomposition, axis, near.other, width))
      if (theirs.other == home) {
        const std::int64_t offset = theirs.image * domain.shape[axis];
        result.push_back({near.other, theirs.image, theirs.begin - offset, theirs.end - offset});
      }
  }
  return result;
}

/// Adds every combination of one segment per axis except the block itself, in an order that depends only on
/// the images and the pair of blocks: by image per axis.
void add_regions(const Decomposition& decomposition, const Index3& home,
                 const std::array<std::vector<Segment>, 3>& axes, std::vector<HaloRegion>& list) {
  for (const Segment& z : axes[0])
    for (const Segment& y : axes[1])
      for (const Segment& x : axes[2]) {
        const bool itself =
            z.image == 0 && y.image == 0 && x.image == 0 && Index3{z.other, y.other, x.other} == home;
        if (!itself)
          list.push_back({decomposition.rank_at({z.other, y.other, x.other}),
                          {{z.begin, y.begin, x.begin}, {z.end, y.end, x.end}}});
      }
}

}  // namespace

HaloRegions halo_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width) {
  const Index3 home = decomposition.coordinates(rank);
  std::array<std::vector<Segment>, 3> wanted, given;
  for (int axis = 0; axis < axis_count; ++axis) {
    wanted[axis] = segments(domain, decomposition, axis, home[axis], width[axis]);
    given[axis] = reverse_segments(domain, decomposition, axis, home[axis], width[axis]);
  }
  HaloRegions regions;
  add_regions(decomposition, home, wanted, regions.receive);
  add_regions(decomposition, home, given, regions.send);
  return regions;
}

bool reaches_next_blocks_only(const Decomposition& decomposition, const Index3& width) {
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t blocks = decomposition.rank_grid()[axis];
    if (blocks > 1 && width[axis] > decomposition.shape()[axis] / blocks) return false;
  }
  return true;
}

HaloRegions slab_regions(const Domain& domain, const Decomposition& decomposition, int rank,
                         const Index3& width) {
  const Index3 home = decomposition.coordinates(rank);
  HaloRegions regions = halo_regions(domain, decomposition, rank, width);
  for (auto* list : {&regions.send, &regions.receive})
    std::erase_if(*list, [&](const HaloRegion& region) { return region.peer != rank; });
  std::array<std::vector<Segment>, 3> wanted, given;
  for (int axis = 0; axis < axis_count; ++axis) {
    wanted[axis] = segments(domain, decomposition, axis, home[axis], width[axis]);
    given[axis] = reverse_segments(domain, decomposition, axis, home[axis], width[axis]);
    if (decomposition.rank_grid()[axis] == 1)
      wanted[axis] = given[axis] = {{0, 0, wanted[axis].front().begin, wanted[axis].back().end}};
  }
  add_regions(decomposition, home, wanted, regions.receive);
  add_regions(decomposition, home, given, regions.send);
  return regions;
}

Box interior(const Domain& domain, const Decomposition& decomposition, int rank, const Index3& width) {
  Box box = decomposition.block(rank);
  const Index3 c = decomposition.coordinates(rank);
  for (int axis = 0; axis < axis_count; ++axis) {
    if (decomposition.rank_grid()[axis] == 1) continue;
    if (domain.periodic(axis) || c[axis] > 0) box.begin[axis] += width[axis];
    if (domain.periodic(axis) || c[axis] + 1 < decomposition.rank_grid()[axis]) box.end[axis] -= width[axis];
  }
  return box.empty() ? Box{} : box;
}

}  // namespace spsolve
