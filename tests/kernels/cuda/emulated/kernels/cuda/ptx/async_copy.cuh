// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces kernels/cuda/ptx/async_copy.cuh in the emulation. A copy by the engine of sm_90 is done when it is
// issued, as early as possible; a barrier completes a phase when all bytes that it expects have arrived. A
// copy of 16 bytes (cp.async) is done as late as possible, when its group is waited for, or with
// EMULATED_EARLY_COPIES at once.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "kernels/cuda/scalar/scalar_arguments.hpp"
#include "tests/kernels/cuda/emulated/cuda_block.hpp"
#include "tests/kernels/cuda/emulated/tile_map.hpp"

namespace emulated {

struct Copy {
  void* to;
  const void* from;
  int bytes;  // bytes that are copied; the others of 16 become zeros

  void complete() const {
    std::memset(to, 0, 16);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
};
/// Holds the groups of copies in flight of every thread; the last group is not committed yet. The groups are
/// empty when a block has ended.
inline std::map<unsigned, std::deque<std::vector<Copy>>> copies;

inline std::deque<std::vector<Copy>>& copies_of_thread() {
  auto& groups = copies[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

/// Holds the state of a barrier: completed phases, arrivals per phase, and arrivals and bytes that are still
/// missing in the current phase.
struct Phases {
  std::uint16_t complete;
  std::uint8_t arrivals, awaited;
  int expected;  // missing bytes
};
static_assert(sizeof(Phases) == sizeof(unsigned long long));

[[noreturn]] inline void fail(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

}  // namespace emulated

namespace spsolve::cuda {

template <class Vector>
Vector load_now(const Vector* shared) {
  return *shared;
}
inline void load_now(const float* global, float* to) { std::memcpy(to, global, 4 * sizeof(float)); }
inline void prefetch(const void*) {}

inline void copy_bytes_then_zeros(void* shared, const void* global, int bytes) {
  if (bytes < 0 || bytes > 16) ::emulated::fail("a copy of 16 bytes reads more or less");
  for (const void* address : {static_cast<const void*>(shared), global})
    if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
      ::emulated::fail("a copy of 16 bytes is not aligned");
  const ::emulated::Copy asked{shared, global, bytes};
#ifdef EMULATED_EARLY_COPIES
  asked.complete();
#else
  ::emulated::copies_of_thread().back().push_back(asked);
#endif
}
inline void copy_16_bytes_or_zero(void* shared, const void* global, bool copy) {
  copy_bytes_then_zeros(shared, global, copy ? 16 : 0);
}
inline void copy_16_bytes(void* shared, const void* global) { copy_bytes_then_zeros(shared, global, 16); }
inline void copy_nth_16_bytes(void* shared, const void* first, int nth) {
  copy_16_bytes(shared, static_cast<const char*>(first) + 16 * static_cast<std::ptrdiff_t>(nth));
}
inline void commit_copies() { ::emulated::copies_of_thread().emplace_back(); }
template <int newest>
void wait_for_copies() {
  auto& groups = ::emulated::copies_of_thread();
  for (; groups.size() > newest + 1; groups.pop_front())
    for (const ::emulated::Copy& copy : groups.front()) copy.complete();
}

inline ::emulated::Phases& phases(unsigned long long* barrier) {
  return *reinterpret_cast<::emulated::Phases*>(barrier);
}
inline void mbarrier_init(unsigned long long* barrier, unsigned arrivals) {
  phases(barrier) = {0, static_cast<std::uint8_t>(arrivals), static_cast<std::uint8_t>(arrivals), 0};
}
inline void fence_mbarrier_init() {}
/// Records arrivals and bytes at a barrier.
inline void mbarrier_receive(unsigned long long* barrier, int arrivals, int bytes) {
  ::emulated::Phases& of = phases(barrier);
  if (arrivals > of.awaited) ::emulated::fail("a barrier gets more arrivals than it awaits");
  of.awaited = static_cast<std::uint8_t>(of.awaited - arrivals);
  of.expected -= bytes;
  if (of.expected < 0) ::emulated::fail("a barrier gets more bytes than it expects");
  if (of.expected > 0 || of.awaited > 0) return;
  ++of.complete;
  of.awaited = of.arrivals;
  ::emulated::fibers.progress();
}
inline bool elect_lane() { return threadIdx.x % 32 == 0; }
inline void mbarrier_expect(unsigned long long* barrier, unsigned bytes) {
  if (phases(barrier).expected != 0) ::emulated::fail("a barrier expects two copies in a phase");
  phases(barrier).expected = static_cast<int>(bytes);
  mbarrier_receive(barrier, 1, 0);
}
inline bool mbarrier_try_wait(unsigned long long* barrier, unsigned parity) {
  if (phases(barrier).complete % 2 != parity) return true;
  ::emulated::fibers.yield();
  return false;
}
inline void mbarrier_wait(unsigned long long* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

/// Copies the rows of the box one after the other; elements outside the map are zero.
inline void tensor_copy(void* shared, const TensorMap& map, int x, int y, int z,
                        unsigned long long* barrier) {
  const emulated::TileMap& tile = emulated::tile_map(map);
  if (std::max({tile.planes, tile.rows, tile.columns}) > 256) ::emulated::fail("a box is too large");
  if (reinterpret_cast<std::uintptr_t>(shared) % 128 != 0) ::emulated::fail("a box is not aligned");
  auto* to = static_cast<std::byte*>(shared);
  for (int line = 0; line < tile.planes * tile.rows; ++line)
    for (int column = 0; column < tile.columns; ++column, to += tile.element_bytes) {
      const bool end = tile.period && column >= tile.columns / 2;
      const std::byte* const from = tile.at(
          {z + line / tile.rows, y + line % tile.rows, x + column + (end ? tile.period - tile.columns : 0)});
      const auto bytes = static_cast<std::size_t>(tile.element_bytes);
      from ? std::memcpy(to, from, bytes) : std::memset(to, 0, bytes);
    }
  mbarrier_receive(barrier, 0, tile.planes * tile.rows * tile.columns * tile.element_bytes);
}
inline void tensor_copy(void* shared, const TensorMap& map, const int (&at)[4], unsigned long long* barrier) {
  tensor_copy(shared, map, at[0], at[2], at[3], barrier);
}

}  // namespace spsolve::cuda
