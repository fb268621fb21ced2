// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/launch/view.hpp"

namespace spsolve::cuda {

/// Names the layout of a box in shared memory: plain rows, or rows of 32, 64 or 128 bytes whose 16-byte
/// chunks are permuted from row to row, so that tensor cores read them without bank conflicts (PTX ISA,
/// "Swizzling modes").
enum class Swizzle { none, bytes_32, bytes_64, bytes_128 };

/// Returns the tensor map by which the copy engine moves boxes of a view. Elements have 2, 4 or 8 bytes, the
/// extents of a box are at most max_box_extent, and address and strides of the view are multiples of 16
/// bytes. Throws Error.
TensorMap make_tensor_map(const CopiedBox& box, Swizzle swizzle = Swizzle::none);

/// Returns the tensor map of a view for boxes of one plane, addressed by {column, 0, row, plane} of their
/// first point. With a `period` (points per row of a periodic axis) a box wraps around the ends of rows: the
/// first half of its columns is the beginning of the rows, the second half their end.
TensorMap make_tile_map(const View& view, int element_bytes, int rows, int columns, std::int64_t period = 0);

}  // namespace spsolve::cuda
