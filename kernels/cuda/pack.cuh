// SPDX-License-Identifier: Apache-2.0
// Boxes of a field gathered into a contiguous buffer, or scattered from it: one launch for all boxes.
// Per element: one load, one store, and a search of the box it belongs to (log2 of their number steps).

#include "pack_arguments.hpp"

namespace spsolve::cuda {

/// Calls copy(buffer element, field element) for every element of every box.
template <class Copy>
__device__ inline void for_each_element(const PackArguments& a, const Copy& copy) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < a.elements;
       i += static_cast<long long>(gridDim.x) * blockDim.x) {
    // The last box whose first element is not beyond i.
    int box = 0;
    for (int rest = a.boxes; rest > 1;) {
      const int half = rest / 2;
      if (a.table[box + half].first <= i) box += half;
      rest -= half;
    }
    const DeviceBox& b = a.table[box];
    const auto inside = static_cast<unsigned>(i - b.first);
    const unsigned row = inside / b.columns, column = inside - row * b.columns;
    const unsigned plane = row / b.rows;
    copy(b.buffer + inside,
         b.field + plane * a.plane_stride + (row - plane * b.rows) * a.row_stride + column);
  }
}

template <class Element>
__device__ inline void pack(const PackArguments& a) {
  for_each_element(a, [&](long long in_buffer, long long in_field) {
    static_cast<Element*>(a.buffer)[in_buffer] = static_cast<const Element*>(a.field)[in_field];
  });
}

template <class Element>
__device__ inline void unpack(const PackArguments& a) {
  for_each_element(a, [&](long long in_buffer, long long in_field) {
    static_cast<Element*>(a.field)[in_field] = static_cast<const Element*>(a.buffer)[in_buffer];
  });
}

}  // namespace spsolve::cuda

using spsolve::cuda::PackArguments;

extern "C" __global__ void pack_2(const PackArguments a) { spsolve::cuda::pack<unsigned short>(a); }
extern "C" __global__ void pack_4(const PackArguments a) { spsolve::cuda::pack<unsigned>(a); }
extern "C" __global__ void pack_8(const PackArguments a) { spsolve::cuda::pack<unsigned long long>(a); }
extern "C" __global__ void unpack_2(const PackArguments a) { spsolve::cuda::unpack<unsigned short>(a); }
extern "C" __global__ void unpack_4(const PackArguments a) { spsolve::cuda::unpack<unsigned>(a); }
extern "C" __global__ void unpack_8(const PackArguments a) { spsolve::cuda::unpack<unsigned long long>(a); }
