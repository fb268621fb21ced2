// SPDX-License-Identifier: Apache-2.0
// Boxes of a field gathered into a buffer, scattered from it, or copied to where their periodic images lie:
// one launch for all of them. Per item (16 bytes where addresses allow): one load and one store; a block
// finds the box of its items (log2 of their number steps). Bound by memory, for boxes a few columns wide by
// the 32-byte sectors of their rows: both ends of a row are copied side by side, since they meet in the same
// lines of memory as those of the next row.

#include "pack_arguments.hpp"

namespace spsolve::cuda {

__device__ inline unsigned char* address(const PackArguments& a, const DevicePlace& place, unsigned plane,
                                         unsigned row) {
  return a.base[static_cast<int>(place.base)] + place.begin + plane * place.plane_stride +
         row * place.row_stride;
}

template <class Item>
__device__ inline void copy_item(unsigned char* to, const unsigned char* from, unsigned item) {
  reinterpret_cast<Item*>(to)[item] = reinterpret_cast<const Item*>(from)[item];
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::pack_threads, 12)
    copy_boxes(const __grid_constant__ spsolve::cuda::PackArguments a) {
  using namespace spsolve::cuda;
  for (unsigned piece = blockIdx.x; piece < a.pieces; piece += gridDim.x) {
    // The last box whose first piece is not beyond this one.
    int box = 0;
    for (int rest = a.copies; rest > 1;) {
      const int half = rest / 2;
      if (a.table[box + half].first_piece <= piece) box += half;
      rest -= half;
    }
    const DeviceCopy& c = a.table[box];
    const unsigned inside = (piece - c.first_piece) * pack_threads + threadIdx.x;
    if (inside >= c.items) continue;
    const unsigned row = inside / c.items_per_row, item = inside - row * c.items_per_row;
    const unsigned plane = row / c.rows, row_in_plane = row - plane * c.rows;
    const bool second = item >= c.second;
    unsigned char* to = address(a, c.to, plane, row_in_plane) + (second ? c.to_jump : 0);
    const unsigned char* from = address(a, c.from, plane, row_in_plane) + (second ? c.from_jump : 0);
    switch (c.item_bytes) {
      case 16:
        copy_item<uint4>(to, from, item);
        break;
      case 8:
        copy_item<unsigned long long>(to, from, item);
        break;
      case 4:
        copy_item<unsigned>(to, from, item);
        break;
      default:
        copy_item<unsigned short>(to, from, item);
    }
  }
}
