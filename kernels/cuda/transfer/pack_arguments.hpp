// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of pack.cuh. Both the host compiler and NVRTC read this file: it has
// no includes and no library types.

namespace spsolve::cuda {

/// Is the number of threads of a block. It is small, so that blocks find room beside those of other kernels.
constexpr unsigned pack_threads = 128;

/// Names the memory that addresses of a box are relative to.
enum class AddressBase : unsigned char { field, buffer };

/// Names the type of the elements of an item, if it matters.
enum class Elements : unsigned char { any, fp64, fp32, bf16, fp16 };

/// Describes where the rows of a box lie, in bytes from the base. Strides of mirrored axes are negative; a
/// row that is mirrored itself begins at its last element.
struct RowLayout {
  long long begin, plane_stride, row_stride;
  AddressBase base;
};

/// Describes a box to copy, in items of a size that divides all its addresses; there are fewer than 2^32
/// items. The items of a row from `second` on lie `from_jump` and `to_jump` bytes further: they belong to a
/// second box with the same rows.
///
/// If `changed`, elements of reflections become offset + scale * value, and the element `ghost` of each row
/// becomes `ghost_value`.
struct alignas(16) DeviceCopy {
  RowLayout from, to;
  long long from_jump, to_jump;
  unsigned items, rows, items_per_row, second;
  double offset, ghost_value;
  unsigned ghost;       // beyond the row if there is none
  unsigned item_bytes;  // 2, 4, 8 or 16; for reflections, the size of an element or 16
  signed char scale;    // -1, 0 or 1
  Elements elements;    // any: bits are copied
  bool changed, mirrored;
};

/// Holds the arguments of one launch. A piece of a copy has as many items as a block has threads; the last
/// one may have fewer.
struct PackArguments {
  unsigned char* base[2];
  const DeviceCopy* table;
  const unsigned* first_pieces;  // first piece of each copy
  int copies;
  unsigned pieces;  // pieces of all copies
};

}  // namespace spsolve::cuda
