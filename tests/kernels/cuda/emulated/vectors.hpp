// SPDX-License-Identifier: Apache-2.0
#pragma once

// These are the vector types of CUDA.

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
