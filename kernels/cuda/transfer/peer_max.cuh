// SPDX-License-Identifier: Apache-2.0
// The largest of a number of each rank, between GPUs that write to each other's memory: every rank leaves its
// own with all others and waits for theirs. One warp; a write, a read over NVLink.

#include "kernels/cuda/transfer/peer_max_arguments.hpp"

/// A number travels in one word with that of its reduction, so that a word tells whether it has arrived. Who
/// writes the next but one has read all of the next, which others wrote after they had read this one: so two
/// places do.
extern "C" __global__ void __launch_bounds__(32) peer_max(const spsolve::cuda::PeerMaxArguments a) {
  const int first = static_cast<int>(a.number % 2) * a.ranks, lane = static_cast<int>(threadIdx.x);
  int largest = *a.value;
  const unsigned long long own =
      static_cast<unsigned long long>(a.number) << 32 | static_cast<unsigned>(largest);
  for (int rank = lane; rank < a.ranks; rank += 32)
    static_cast<volatile unsigned long long*>(a.places[rank])[first + a.rank] = own;
  for (int rank = lane; rank < a.ranks; rank += 32) {
    unsigned long long theirs;
    do theirs = static_cast<volatile unsigned long long*>(a.places[a.rank])[first + rank];
    while (theirs >> 32 != a.number);
    largest = max(largest, static_cast<int>(theirs & 0xffffffffu));
  }
  largest = __reduce_max_sync(0xffffffffu, largest);
  if (lane == 0) *a.value = largest;
}
