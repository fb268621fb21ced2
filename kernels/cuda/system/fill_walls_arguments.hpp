// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of fill_walls.cuh. Both the host compiler and NVRTC read this file: it
// has no includes and no library types. Axes are {z, y, x}.

namespace spsolve::cuda {

constexpr unsigned fill_threads = 128;
constexpr int max_filled_arrays = 8;  // arrays of a launch

/// Describes a face of an array. A ghost value is scale * mirrored + factor * c.
struct WallFace {
  const double* layers;  // scale and factor of each layer of ghost points
  const double* values;  // address of c at the point {0, 0} of the face, which may lie outside the table
  long long stride[2];   // from a value to the next, along the slower and the faster axis of the face
};

/// Describes an array whose ghost points are filled. Point p lies at data[p[0] * stride[0] + p[1] * stride[1]
/// + p[2]].
struct FilledArray {
  void* data;
  WallFace face[3][2];  // by axis, and by side {low, high}; those of periodic axes are not used
};

/// Describes a box of ghost points beyond one or more faces.
struct GhostSlab {
  long long begin[3], extent[3];
};

/// Holds the arguments of one launch, for arrays of one geometry. Slabs are disjoint; their points are
/// numbered one slab after the other.
struct FillArguments {
  long long shape[3];                      // shape of the global grid
  long long stride[2];                     // strides of all arrays, in elements
  bool has_walls[3];                       // beyond the faces of an axis
  long long known_begin[3], known_end[3];  // only ghost points that mirror points of this box are filled
  GhostSlab slab[6];
  long long first_point[7];  // first point of every slab; then the number of points
  FilledArray array[max_filled_arrays];
};

}  // namespace spsolve::cuda
