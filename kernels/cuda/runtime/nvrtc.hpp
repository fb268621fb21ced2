// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace spsolve::cuda {

/// A text that kernels include by its name.
struct SourceFile {
  std::string name, text;
};

/// What NVRTC made of a program.
struct Compiled {
  std::vector<char> cubin;
  std::string log;  // with ptxas' account of registers, spills and shared memory
};

/// NVIDIA's run-time compiler. The library is opened when it is first needed, so that the executable starts
/// without CUDA; it is looked for as any shared library, then where CUDA was when spsolve was built.
class Nvrtc {
 public:
  /// Throws Error if the library is not there.
  Nvrtc();

  const std::string& compiler() const { return compiler_; }

  /// Compiles `main`, which may include `files`, for `architecture` (sm_80, sm_90a, ...). Throws Error with
  /// NVRTC's messages if it does not compile.
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
