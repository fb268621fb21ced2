// SPDX-License-Identifier: Apache-2.0
// Gathers boxes of a field into a buffer, scatters them from it, or copies them to the ghost points or halo
// points that are periodic copies or reflections of them. One launch does all boxes.
//
// A block copies one piece (pack_threads items) at a time, one item per thread. There is no shared memory and
// no barrier; a warp finds the box of its items by ballots, with one load per 32 boxes. An item has 16 bytes
// where addresses allow.
//
// The kernel is bound by memory: one load and one store per item. Boxes a few columns wide are bound by the
// 32-byte sectors of their rows. Therefore both ends of a row are copied side by side, since they share lines
// of memory with the ends of the next row.

#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/transfer/pack_arguments.hpp"

namespace spsolve::cuda {

/// Returns the address of a row of a box.
__device__ inline unsigned char* address(const PackArguments& a, const RowLayout& rows, unsigned plane,
                                         unsigned row) {
  return a.base[static_cast<int>(rows.base)] + rows.begin + plane * rows.plane_stride + row * rows.row_stride;
}

/// Copies an item unchanged.
template <class Item>
__device__ inline void copy_item(unsigned char* to, unsigned item, const unsigned char* from) {
  reinterpret_cast<Item*>(to)[item] = reinterpret_cast<const Item*>(from)[item];
}

/// Copies an item of n elements of a reflection. In a mirrored row the originals lie in descending order, the
/// first one at `from`.
template <class Stored, int n>
__device__ inline void reflect_item(unsigned char* to, unsigned item, const unsigned char* from,
                                    const DeviceCopy& c) {
  using Item = ElementVector<Stored, n>;
  Item elements;
  if (c.mirrored) {
#pragma unroll
    for (int k = 0; k < n; ++k)
      elements.element[k] = reinterpret_cast<const Stored*>(from)[-static_cast<int>(item * n + k)];
  } else {
    elements = reinterpret_cast<const Item*>(from)[item];
  }
#pragma unroll
  for (int k = 0; k < n; ++k) {
    Stored& element = elements.element[k];
    const auto value = value_of(element);
    const auto offset = static_cast<decltype(value)>(c.offset);
    if (item * n + k == c.ghost)
      store(element, static_cast<decltype(value)>(c.ghost_value));
    else if (c.changed)
      store(element, c.scale == 0 ? offset : c.scale < 0 ? offset - value : offset + value);
  }
  reinterpret_cast<Item*>(to)[item] = elements;
}

template <class Stored>
__device__ inline void reflect_item(unsigned char* to, unsigned item, const unsigned char* from,
                                    const DeviceCopy& c) {
  if (c.item_bytes == 16)
    reflect_item<Stored, 16 / sizeof(Stored)>(to, item, from, c);
  else
    reflect_item<Stored, 1>(to, item, from, c);
}

/// Returns how many copies begin with this piece or before it; there is at least one. The lanes of a warp
/// test different copies.
__device__ inline int copies_up_to(const PackArguments& a, unsigned piece) {
  int count = 0;
  for (int first = 0; first < a.copies; first += 32) {
    const int copy = first + static_cast<int>(threadIdx.x % 32);
    count += __popc(__ballot_sync(0xffffffffu, copy < a.copies && a.first_pieces[copy] <= piece));
  }
  return count;
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::pack_threads, 12)
    copy_boxes(const __grid_constant__ spsolve::cuda::PackArguments a) {
  using namespace spsolve::cuda;
  for (unsigned piece = blockIdx.x; piece < a.pieces; piece += gridDim.x) {
    const int box = copies_up_to(a, piece) - 1;
    const DeviceCopy c = a.table[box];
    const unsigned inside = (piece - a.first_pieces[box]) * pack_threads + threadIdx.x;
    if (inside >= c.items) continue;
    const unsigned row = inside / c.items_per_row, item = inside - row * c.items_per_row;
    const unsigned plane = row / c.rows, row_in_plane = row - plane * c.rows;
    const bool second = item >= c.second;
    unsigned char* to = address(a, c.to, plane, row_in_plane) + (second ? c.to_jump : 0);
    const unsigned char* from = address(a, c.from, plane, row_in_plane) + (second ? c.from_jump : 0);
    switch (c.elements) {
      case Elements::fp64:
        reflect_item<double>(to, item, from, c);
        continue;
      case Elements::fp32:
        reflect_item<float>(to, item, from, c);
        continue;
      case Elements::bf16:
        reflect_item<Bfloat16>(to, item, from, c);
        continue;
      case Elements::fp16:
        reflect_item<Half>(to, item, from, c);
        continue;
      case Elements::any:
        break;
    }
    switch (c.item_bytes) {
      case 16:
        copy_item<uint4>(to, item, from);
        break;
      case 8:
        copy_item<unsigned long long>(to, item, from);
        break;
      case 4:
        copy_item<unsigned>(to, item, from);
        break;
      default:
        copy_item<unsigned short>(to, item, from);
    }
  }
}
