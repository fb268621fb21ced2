// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces kernels/cuda/ptx/tensor_store.cuh in the emulation. Stores read shared memory as late as possible:
// when the thread waits for them.

#include "kernels/cuda/ptx/async_copy.cuh"

namespace emulated {

struct BoxStore {
  const spsolve::cuda::emulated::TileMap* tile;
  int x, y, z;
  const std::byte* shared;

  /// Writes the box. 16-byte chunks are permuted by address bits 7 and up, as many bits as rows of the box
  /// need (swizzling).
  void complete() const {
    const auto row_bytes = static_cast<std::uintptr_t>(tile->columns * tile->element_bytes);
    const std::uintptr_t exchanged = row_bytes == 128 ? 7 : row_bytes == 64 ? 3 : 0;
    for (int row = 0; row < tile->rows; ++row)
      for (int column = 0; column < tile->columns; ++column) {
        const auto bytes = static_cast<std::size_t>(tile->element_bytes);
        auto from = reinterpret_cast<std::uintptr_t>(shared) + row * row_bytes + column * bytes;
        from ^= (from >> 7 & exchanged) << 4;
        if (std::byte* const to = tile->at({z, y + row, x + column}))
          std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
      }
  }
};
/// Holds the groups of stores in flight of every thread; the last group is not committed yet.
inline std::map<unsigned, std::deque<std::vector<BoxStore>>> stores;

inline std::deque<std::vector<BoxStore>>& stores_of_thread() {
  auto& groups = stores[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

}  // namespace emulated

namespace spsolve::cuda {

template <int threads>
void synchronize_threads(int barrier) {
  ::emulated::fibers.meet(barrier, threads);
}

inline void mbarrier_arrive(unsigned long long* barrier) { mbarrier_receive(barrier, 1, 0); }
inline void fence_for_copy_engine() {}
inline void tensor_store(const TensorMap& map, int x, int y, int z, const void* shared) {
  const emulated::TileMap& tile = emulated::tile_map(map);
  if (reinterpret_cast<std::uintptr_t>(shared) % 128 != 0 || x * tile.element_bytes % 16 != 0)
    ::emulated::fail("a box is not aligned");
  ::emulated::stores_of_thread().back().push_back({&tile, x, y, z, static_cast<const std::byte*>(shared)});
}
inline void commit_stores() { ::emulated::stores_of_thread().emplace_back(); }
template <int newest>
void wait_for_stores_to_read() {
  auto& groups = ::emulated::stores_of_thread();
  for (; groups.size() > newest + 1; groups.pop_front())
    for (const ::emulated::BoxStore& store : groups.front()) store.complete();
}

}  // namespace spsolve::cuda
