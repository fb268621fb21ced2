// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace spsolve::cuda {

/// Holds a source text that kernels include under `name`.
struct SourceFile {
  std::string name, text;
};

/// Holds the result of compiling a program.
struct Compiled {
  std::vector<char> cubin;
  std::string log;  // compiler messages and what ptxas reports: registers, spills, shared memory
};

/// Compiles by NVIDIA's run-time compiler. The shared library is opened when an Nvrtc is made, so that the
/// executable starts without CUDA. The search order is the usual one of shared libraries, then the CUDA
/// directory of the build.
class Nvrtc {
 public:
  /// Opens the library. Throws Error if it is not found.
  Nvrtc();

  /// Returns the NVRTC version and the options that compile() passes, for example as part of a cache key.
  const std::string& compiler() const { return compiler_; }

  /// Compiles `main`, which may include `files`, for `architecture` (sm_80, sm_90a, ...). Throws Error with
  /// NVRTC's messages if the program does not compile.
  Compiled compile(const SourceFile& main, const std::vector<SourceFile>& files,
                   const std::string& architecture) const;

 private:
  template <class Function>
  Function* find(const char* name) const;

  std::shared_ptr<void> library_;
  int major_ = 0;
  std::string compiler_;
};

}  // namespace spsolve::cuda
