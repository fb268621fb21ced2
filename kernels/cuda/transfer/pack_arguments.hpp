// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells pack.cuh. Read by the host compiler and by NVRTC: no includes, no library types.

namespace spsolve::cuda {

/// Small blocks, which find room beside those of other kernels.
constexpr unsigned pack_threads = 128;

enum class Base : unsigned char { field, buffer };

/// What an item consists of, where that matters.
enum class Elements : unsigned char { any, fp64, fp32, bf16, fp16 };

/// Where the rows of a box lie, in bytes from the base; strides of what is mirrored are negative. A row that
/// is mirrored itself begins at its last element.
struct DevicePlace {
  long long begin, plane_stride, row_stride;
  Base base;
};

/// A box that is copied, in items of the size that all its addresses are multiples of: fewer than 2^32. The
/// items of a row from `second` on lie `from_jump` and `to_jump` bytes further: one more box of the same
/// rows. Elements of images become offset + scale * value where they change, and the one `ghost` of a row its
/// value.
struct alignas(16) DeviceCopy {
  DevicePlace from, to;
  long long from_jump, to_jump;
  unsigned items, rows, items_per_row, second;
  double offset, ghost_value;
  unsigned ghost;       // beyond the row if there is none
  unsigned item_bytes;  // 2, 4, 8 or 16; of images, those of an element or 16
  signed char scale;    // -1, 0 or 1
  Elements elements;    // any: the image is a copy
  bool changed, mirrored;
};

/// Of one launch. A piece of a copy is as many items as a block has threads, or what is left of them.
struct PackArguments {
  unsigned char* base[2];
  const DeviceCopy* table;
  const unsigned* first_pieces;  // of each copy
  int copies;
  unsigned pieces;  // of all copies
};

}  // namespace spsolve::cuda
