// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/ceilings/gemm_design.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/runtime/timing.hpp"

namespace spsolve::cuda {

/// Computes C = A B on the sparse tensor cores of sm_90a. A (m x k) has at most two elements that are not
/// zero among columns 4 i to 4 i + 3 of every row; sums are fp32 and C is fp16. This GEMM shows what these
/// tensor cores reach when fed from memory.
class SparseGemm {
 public:
  /// Returns the text of constants.cuh for sparse_gemm.cuh.
  static std::string constants(GemmFormat format, const GemmDesign& design);
  /// Returns the text of constants.cuh for gemm_operands.cuh.
  static std::string operand_constants(GemmFormat format);

  /// Takes m, n and k of 1 or more.
  SparseGemm(GemmFormat format, int m, int n, int k, const GemmDesign& design, const KernelCompiler& compiler,
             const Stream& stream);

  /// Return the device memory of A, [m][pitch()], and of B, [n][pitch()]: elements of B in a row of memory
  /// have the same column. Elements from k to pitch() are zero at first and must stay so.
  void* a() const { return a_.data(); }
  void* b() const { return b_.data(); }
  long long pitch() const { return operands_.pitch; }

  /// Brings A into 2:4 form. Throws Error(invalid_input) if it has more than two elements that are not zero
  /// among four.
  void compress();

  /// Names the data that fill() writes: uniformly random elements, or small ones whose sums are exact.
  enum class Data { random, exact };
  /// Writes operands and compresses A.
  void fill(Data data);

  void launch() const;
  /// Returns how many of `samples` entries, spread over C, differ from sums on the host of what fill() wrote,
  /// rounded to fp16. There are none after fill(exact) and launch().
  int wrong_entries(int samples) const;
  /// Returns 2 m n k: zeros count too, as in papers.
  double flop() const { return 2.0 * operands_.m * operands_.n * operands_.k; }

 private:
  GemmFormat format_;
  GemmDesign design_;
  const Stream* stream_;
  Kernel multiply_, fill_, compress_;
  DeviceBuffer a_, b_, values_, metadata_, c_, faults_;
  GemmArguments arguments_{};
  GemmOperands operands_{};
  int blocks_ = 0;
};

/// Times launches on random data (see launch_time()) after it has checked 256 entries of a product with exact
/// sums. Throws Error with `name` if they are wrong.
LaunchTime time_when_right(SparseGemm& gemm, const std::string& name, double seconds, const Stream& stream);

}  // namespace spsolve::cuda
