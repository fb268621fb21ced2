// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of peer_max.cuh. Both the host compiler and NVRTC read this file: it
// has no includes and no library types.

namespace spsolve::cuda {

/// Holds the arguments of one launch of peer_max.cuh.
struct PeerMaxArguments {
  int* value;  // number of this rank, not negative; becomes the largest of all ranks
  // `places` is the memory of each rank, mapped by all ranks: two slots per rank, used alternately.
  unsigned long long* const* places;
  int rank, ranks;
  unsigned number;  // count of the reduction, the same on all ranks, from 1 on
};

}  // namespace spsolve::cuda
