// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells pack.cuh. Read by the host compiler and by NVRTC: no includes, no library types.

namespace spsolve::cuda {

/// Small blocks, which find room beside those of other kernels.
constexpr unsigned pack_threads = 128;

enum class Base : unsigned char { field, buffer };

/// Where the rows of a box lie, in bytes from the base.
struct DevicePlace {
  long long begin, plane_stride, row_stride;
  Base base;
};

/// A box that is copied. It has fewer than 2^32 items, the largest that all its addresses are multiples of.
struct DeviceCopy {
  long long first;  // number of its first item among those of all copies
  DevicePlace from, to;
  unsigned rows, items_per_row;
  unsigned item_bytes;  // 2, 4, 8 or 16
};

struct PackArguments {
  unsigned char* base[2];
  const DeviceCopy* table;
  int copies;
  long long items;  // of all copies
};

}  // namespace spsolve::cuda
