// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

/// How a box lies in shared memory: row by row, or with the 16-byte chunks of a row of that many bytes
/// exchanged from row to row, as tensor cores read it without bank conflicts (PTX ISA, "Swizzling modes").
enum class Swizzle { none, bytes_64, bytes_128 };

/// A view of elements of 2, 4 or 8 bytes for the tensor copy engine, in boxes of `planes` x `rows` x
/// `columns`, none of which exceeds most_box_extent. Strides and the address of the view are multiples of 16
/// bytes. Throws Error.
TensorMap make_tensor_map(const View& view, int element_bytes, int rows, int columns,
                          Swizzle swizzle = Swizzle::none, int planes = 1);

/// The same view in boxes of one plane, at the coordinates {column, 0, row, plane} of their first points.
/// With a `period`, the second half of the columns lies at the end of rows of so many, the first at their
/// beginning.
TensorMap make_tile_map(const View& view, int element_bytes, int rows, int columns, std::int64_t period = 0);

}  // namespace spsolve::cuda
