// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands in for kernels/cuda/async_copy.cuh in the emulation. A copy by the engine of sm_90 is done when it
// is asked for, as early as can be, and completes its barrier, which counts phases; one of 16 bytes as late
// as can be, when its group is waited for, or with EMULATED_EARLY_COPIES at once.

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "arguments.hpp"
#include "cuda_block.hpp"
#include "tile_map.hpp"

namespace emulated {

struct Copy {
  void* to;
  const void* from;
};
/// Of every thread: groups of copies under way, the last of which is not committed yet. Those of a block
/// that has ended are empty.
inline std::map<unsigned, std::deque<std::vector<Copy>>> copies;

inline std::deque<std::vector<Copy>>& copies_of_thread() {
  auto& groups = copies[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

}  // namespace emulated

namespace spsolve::cuda {

inline void copy_16_bytes(void* shared, const void* global) {
  for (const void* address : {static_cast<const void*>(shared), global})
    if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
      std::fprintf(stderr, "a copy of 16 bytes is not aligned\n");
      std::abort();
    }
#ifdef EMULATED_EARLY_COPIES
  std::memcpy(shared, global, 16);
#else
  ::emulated::copies_of_thread().back().push_back({shared, global});
#endif
}
inline void copy_nth_16_bytes(void* shared, const void* first, int nth) {
  copy_16_bytes(shared, static_cast<const char*>(first) + 16 * static_cast<std::ptrdiff_t>(nth));
}
inline void commit_copies() { ::emulated::copies_of_thread().emplace_back(); }
template <int newest>
void wait_for_copies() {
  auto& groups = ::emulated::copies_of_thread();
  for (; groups.size() > newest + 1; groups.pop_front())
    for (const ::emulated::Copy& copy : groups.front()) std::memcpy(copy.to, copy.from, 16);
}

inline void mbarrier_init(unsigned long long* barrier, unsigned) { *barrier = 0; }
inline void fence_mbarrier_init() {}
inline void mbarrier_expect(unsigned long long* barrier, unsigned) {
  ++*barrier;
  ::emulated::fibers.progress();
}
inline bool mbarrier_try_wait(const unsigned long long* barrier, unsigned parity) {
  if (*barrier % 2 != parity) return true;
  ::emulated::fibers.yield();
  return false;
}
inline void mbarrier_wait(const unsigned long long* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

/// Rows of the box one after the other; zero outside.
inline void tensor_copy(void* shared, const TensorMap& map, int x, int y, int z, unsigned long long*) {
  const emulated::TileMap& tile = emulated::tile_map(map);
  auto* to = static_cast<std::byte*>(shared);
  for (int line = 0; line < tile.planes * tile.rows; ++line)
    for (int column = 0; column < tile.columns; ++column, to += tile.element_bytes) {
      const bool end = tile.period && column >= tile.columns / 2;
      const long long p[3] = {z + line / tile.rows, y + line % tile.rows,
                              x + column + (end ? tile.period - tile.columns : 0)};
      bool inside = true;
      long long offset = 0;
      for (int axis = 0; axis < 3; ++axis) {
        inside = inside && p[axis] >= 0 && p[axis] < tile.view.end[axis] - tile.view.begin[axis];
        offset += p[axis] * tile.view.stride[axis];
      }
      if (inside)
        std::memcpy(to, static_cast<const std::byte*>(tile.view.data) + offset * tile.element_bytes,
                    static_cast<std::size_t>(tile.element_bytes));
      else
        std::memset(to, 0, static_cast<std::size_t>(tile.element_bytes));
    }
}
inline void tensor_copy(void* shared, const TensorMap& map, const int (&at)[4], unsigned long long* barrier) {
  tensor_copy(shared, map, at[0], at[2], at[3], barrier);
}

}  // namespace spsolve::cuda
