// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/program.hpp"

namespace spsolve::cuda {

/// Computes C = A B on the sparse tensor cores of sm_90a, with A (m x k) in 2:4 form with a random pattern,
/// fp32 accumulators and fp32 C. It is a yardstick for what these tensor cores reach when fed from memory. m
/// and n are multiples of 256, k of 512.
class SparseGemm {
 public:
  enum class Format { fp16, e4m3 };

  /// Returns the text of constants.cuh for sparse_gemm.cuh.
  static std::string constants(Format format);

  SparseGemm(Format format, int m, int n, int k, const KernelCompiler& compiler, const Stream& stream);

  /// Data that fill() writes: uniformly random elements, or small ones whose sums are exact.
  enum class Data { random, exact };
  void fill(Data data);
  void launch() const;
  /// Returns how many of `samples` entries, spread over C, differ from a sum on the host. There are none
  /// after fill(exact) and launch().
  int wrong_entries(int samples) const;
  /// Returns 2 m n k: zeros count too, as in papers.
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
