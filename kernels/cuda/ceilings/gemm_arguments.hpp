// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the shapes and kernel arguments of sparse_gemm.cuh and gemm_operands.cuh. Both the host
// compiler and NVRTC read this file.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

// A warpgroup computes this many rows of a tile, and a tile has this many columns, which its warpgroups
// share.
constexpr int gemm_group_rows = 64, gemm_columns = 256;
// One piece of metadata covers this many rows, whatever the design.
constexpr int gemm_metadata_rows = 128;
// The words of metadata that the lanes of a warp load together, one each, cover this many columns of A: 16
// groups of four columns. A word holds 8 of these groups, of one row (e4m3) or four of each of two rows
// (fp16).
constexpr int gemm_word_columns = 64;
// The metadata of this many stages can be copied together and loaded into registers at once. The number of
// stages of a tile is a multiple of it.
constexpr int gemm_chunk = 4;
constexpr int gemm_box_columns = 64;  // columns of results that one copy stores

/// Holds the arguments of one launch of sparse_gemm.cuh.
struct GemmArguments {
  TensorMap a, b, c;         // bytes: [m][kept elements], [n][k elements], [m][n] fp16
  const unsigned* metadata;  // [m / 128][stage][half of the rows][word][lane of the warpgroup]
  void* results;             // [m][pitch]: fp16
  long long pitch;
  int m, n;
  int stages;  // the number of stages along k
};

/// Holds the arguments of fill and compress in gemm_operands.cuh.
struct GemmOperands {
  void *a, *b;  // [m][pitch], [n][pitch]: dense
  long long pitch;
  void* values;  // [m][values_pitch]: the kept elements of A
  long long values_pitch;
  unsigned* metadata;  // see GemmArguments
  int* faults;         // number of groups of A that have more than two elements that are not zero
  int m, n, k;
  int stages, words_per_stage;
  bool exact;  // small numbers whose sums are exact in any accumulator
};

/// Names the two of four elements that are kept, and says whether the others are zero.
struct KeptPair {
  int first, second;
  bool is_whole;

  /// Returns the metadata of the group.
  constexpr unsigned metadata() const { return first | second << 2; }
};

/// Chooses which two of four elements (given by their bits without sign) are kept: the elements that are not
/// zero and, beside a single one, the last or the first element.
constexpr KeptPair kept_pair(const unsigned (&magnitudes)[4]) {
  int found[4] = {}, count = 0;
  for (int i = 0; i < 4; ++i)
    if (magnitudes[i] != 0) found[count++] = i;
  if (count == 0) return {0, 1, true};
  if (count == 1) return found[0] == 3 ? KeptPair{0, 3, true} : KeptPair{found[0], 3, true};
  return {found[0], found[1], count == 2};
}

}  // namespace spsolve::cuda
