// SPDX-License-Identifier: Apache-2.0
#include "halo/regions.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace spsolve {
namespace {

/// Describes a part [begin, end) along one axis of block `home` grown by its halo. It is copy number `copy`
/// of the points `from` of block `other`. On a periodic axis, copy k of point i lies at i + k * n. On a
/// reflected axis, copies -1 and 1 lie beyond the low and the high wall.
struct Segment {
  std::int64_t other;
  std::int64_t copy;
  std::int64_t begin, end;
  std::int64_t from_begin, from_end;
  Reflection reflection = {};
};

/// Returns the grid point that ghost point i of a reflected axis is a reflection of, and the transformation
/// of values (kernels/wall_reflections.hpp). Dirichlet walls reflect about the ghost point next to the face
/// and other walls about the face. Reflections are repeated until the point lies in the grid.
std::pair<std::int64_t, Reflection> origin(const Domain& domain, int axis, std::int64_t i) {
  const std::int64_t n = domain.shape[axis];
  Reflection reflection;
  while (i < 0 || i >= n) {
    const Face& face = domain.faces[axis][i < 0 ? low : high];
    const std::int64_t ghost = i < 0 ? -1 : n;
    Reflection at_face;
    at_face.reversed[axis] = true;
    if (face.has_value()) at_face.scale = -1, at_face.offset = 2 * face.value;
    if (face.kind != BoundaryKind::dirichlet) {
      i = (i < 0 ? -1 : 2 * n - 1) - i;
    } else if (i == ghost) {
      i = i < 0 ? 0 : n - 1;
      at_face.scale = 0, at_face.offset = face.value;
    } else {
      i = 2 * ghost - i;
    }
    reflection = reflection * at_face;
  }
  return {i, reflection};
}

/// Returns the longest segment that begins at point i beyond a wall and ends before `end` at most, in which
/// neighbours reflect neighbours of one block.
Segment reflected_segment(const Domain& domain, const Decomposition& decomposition, int axis, std::int64_t i,
                          std::int64_t end) {
  const auto [from, reflection] = origin(domain, axis, i);
  const std::int64_t other = decomposition.block_of(axis, from), step = reflection.reversed[axis] ? -1 : 1;
  const auto continues = [&](std::int64_t next) {
    if (next == 0 || next == end) return false;
    const auto [there, other_reflection] = origin(domain, axis, next);
    return other_reflection == reflection && there - from == step * (next - i) &&
           decomposition.block_of(axis, there) == other;
  };
  std::int64_t stop = i + 1;
  while (continues(stop)) ++stop;
  const std::int64_t last = from + step * (stop - 1 - i);
  return {other, i < 0 ? -1 : 1, i, stop, std::min(from, last), std::max(from, last) + 1, reflection};
}

std::vector<Segment> segments(const Domain& domain, const Decomposition& decomposition, int axis,
                              std::int64_t home, std::int64_t width) {
  const std::int64_t n = domain.shape[axis];
  const bool has_copies = domain.periodic(axis) || domain.reflected[axis];
  std::int64_t begin = decomposition.block_begin(axis, home) - width;
  std::int64_t end = decomposition.block_begin(axis, home + 1) + width;
  if (!has_copies) {
    begin = std::max<std::int64_t>(begin, 0);
    end = std::min(end, n);
  }
  std::vector<Segment> result;
  for (std::int64_t i = begin; i < end; i = result.back().end) {
    if (domain.reflected[axis] && (i < 0 || i >= n)) {
      result.push_back(reflected_segment(domain, decomposition, axis, i, end));
      continue;
    }
    const std::int64_t local = wrap(i, n), shift = i - local;
    const std::int64_t other = decomposition.block_of(axis, local);
    const std::int64_t stop = std::min(end, decomposition.block_begin(axis, other + 1) + shift);
    result.push_back({other, shift / n, i, stop, local, stop - shift});
  }
  return result;
}

/// Returns the blocks along an axis whose halo contains copies of points of block `home`, with the parts of
/// home that they copy. These are the segments() of the other blocks, restricted to those blocks within
/// reach.
std::vector<Segment> reverse_segments(const Domain& domain, const Decomposition& decomposition, int axis,
                                      std::int64_t home, std::int64_t width) {
  // Points of home are needed by the blocks that own points within `width` of it.
  std::vector<Segment> result;
  std::vector<std::int64_t> seen;
  for (const Segment& near : segments(domain, decomposition, axis, home, width)) {
    if (std::find(seen.begin(), seen.end(), near.other) != seen.end()) continue;
    seen.push_back(near.other);
    for (const Segment& theirs : segments(domain, decomposition, axis, near.other, width))
      if (theirs.other == home)
        result.push_back({near.other, theirs.copy, theirs.from_begin, theirs.from_end, theirs.from_begin,
                          theirs.from_end, theirs.reflection});
  }
  return result;
}

/// Adds every combination of one segment per axis, except the block itself. The order depends only on the
/// copy numbers per axis and on the pair of blocks.
void add_regions(const Decomposition& decomposition, const Index3& home,
                 const std::array<std::vector<Segment>, 3>& axes, std::vector<HaloRegion>& list) {
  for (const Segment& z : axes[0])
    for (const Segment& y : axes[1])
      for (const Segment& x : axes[2]) {
        const bool itself =
            z.copy == 0 && y.copy == 0 && x.copy == 0 && Index3{z.other, y.other, x.other} == home;
        if (!itself)
          list.push_back({decomposition.rank_at({z.other, y.other, x.other}),
                          {{z.begin, y.begin, x.begin}, {z.end, y.end, x.end}},
                          z.reflection * y.reflection * x.reflection});
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
      wanted[axis] = given[axis] = {{0, 0, wanted[axis].front().begin, wanted[axis].back().end, 0, 0}};
  }
  // Copies of own points are in place by the second round, so an axis that is not cut counts as one segment.
  HaloRegions slabs;
  add_regions(decomposition, home, wanted, slabs.receive);
  add_regions(decomposition, home, given, slabs.send);
  const auto append = [&](const std::vector<HaloRegion>& from, std::vector<HaloRegion>& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to),
                 [&](const HaloRegion& region) { return region.peer != rank; });
  };
  append(slabs.send, regions.send);
  append(slabs.receive, regions.receive);
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
