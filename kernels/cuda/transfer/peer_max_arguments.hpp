// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells peer_max.cuh. Read by the host compiler and by NVRTC: no includes, no library types.

namespace spsolve::cuda {

struct PeerMaxArguments {
  int* value;  // of this rank, not negative; becomes the largest of all
  // Memory of each rank, mapped by all: two places for what each rank has, which take turns.
  unsigned long long* const* places;
  int rank, ranks;
  unsigned number;  // of the reduction, counted by all ranks alike, from 1 on
};

}  // namespace spsolve::cuda
