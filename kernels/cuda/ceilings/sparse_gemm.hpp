// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/program.hpp"

namespace spsolve::cuda {

/// C = A B on the sparse tensor cores of sm_90a, A (m x k) in 2:4 form with random pattern, fp32 accumulators
/// and C: a yardstick for what they reach when fed from memory. m and n are multiples of 256, k of 512.
class SparseGemm {
 public:
  enum class Format { fp16, e4m3 };

  /// constants.cuh of sparse_gemm.cuh.
  static std::string constants(Format format);

  SparseGemm(Format format, int m, int n, int k, const KernelCompiler& compiler, const Stream& stream);

  /// What fill() writes: uniformly random elements, or small ones whose sums are exact.
  enum class Data { random, exact };
  void fill(Data data);
  void launch() const;
  /// Entries that differ from a sum on the host, of `samples` spread over C. After fill(exact) and launch()
  /// there are none.
  int wrong_entries(int samples) const;
  /// 2 m n k: the zeros count, as in papers.
  double flop() const { return 2.0 * arguments_.m * arguments_.n * arguments_.k; }

 private:
  Format format_;
  const Stream* stream_;
  Code code_;
  Kernel multiply_, fill_;
  DeviceBuffer a_, b_, c_, metadata_;
  GemmArguments arguments_{};
  int blocks_;
};

}  // namespace spsolve::cuda
