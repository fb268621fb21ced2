// SPDX-License-Identifier: Apache-2.0
// Computes the maximum of one number per rank, between GPUs that write to each other's memory. Every rank
// writes its number to all others and waits for theirs. One warp does it: one write and one read over NVLink.

#include "kernels/cuda/transfer/peer_max_arguments.hpp"

/// A number travels in one 64-bit word with the count of its reduction, so a rank that reads the word knows
/// whether the number has arrived. Two slots per rank suffice: a rank that writes reduction n + 2 has read
/// all words of n + 1, which the others wrote after they had read those of n.
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
