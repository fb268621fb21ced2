// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace spsolve::cuda {

/// Names the format of the elements of A and B.
enum class GemmFormat { fp16, e4m3 };

/// Names how the metadata of A reach the registers of the multiplying threads: loaded from global memory
/// stage by stage, copied by the copy engine together with the operands of the stage, or copied for four
/// stages at once with barriers of their own.
enum class GemmMetadata { loaded, with_operands, apart };

/// Holds the optimisations of sparse_gemm.cuh as switches. The defaults are the fastest design.
struct GemmDesign {
  bool specialised = true;  // one warpgroup copies, two multiply; else one warpgroup does both
  bool wide_rows = true;    // a stage has 64 bytes of a row of A and 128 of a column of B; else half of that
  int stages = 5;
  GemmMetadata metadata = GemmMetadata::apart;
  bool overlap = true;         // the next stage is multiplied before the stage before is done
  bool early_release = true;   // a stage is given back when it is done; else four stages together
  int cluster_blocks = 2;      // blocks that share the columns of B
  bool copied_results = true;  // results go through shared memory and the copy engine, while the next
                               // tile is multiplied

  int a_bytes() const { return wide_rows ? 64 : 32; }
  int b_bytes() const { return 2 * a_bytes(); }
  int consumers() const { return specialised ? 2 : 1; }
  int threads() const { return specialised ? 3 * 128 : 128; }
};

/// Describes a step of a worklog: a design, and what its author measured for the same change.
struct GemmStep {
  const char* name;
  GemmDesign design;
  double published_flop;  // per second, zeros counted, on an H800 PCIe; 0: the worklog has no such step
};

/// Returns the steps from one warpgroup to the fastest design, each with one optimisation more ("How to
/// Optimize a Croqtile 2:4 Sparse GEMM", April 2026, tables of steps).
std::vector<GemmStep> gemm_ladder(GemmFormat format);

}  // namespace spsolve::cuda
