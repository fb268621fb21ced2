// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells pack.cuh. Read by the host compiler and by NVRTC: no includes, no library types.

namespace spsolve::cuda {

/// A box of a field and its place in the buffer, in elements. A box has fewer than 2^32 points.
struct DeviceBox {
  long long first;   // number of its first element among those of all boxes
  long long buffer;  // where it begins in the buffer
  long long field;   // where it begins in the field
  unsigned rows, columns;
};

struct PackArguments {
  void* field;
  void* buffer;
  const DeviceBox* table;
  int boxes;
  long long elements;  // of all boxes
  long long plane_stride, row_stride;
};

}  // namespace spsolve::cuda
