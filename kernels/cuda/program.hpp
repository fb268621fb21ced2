// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cache_directory.hpp"
#include "kernels/cuda/nvrtc.hpp"

namespace spsolve::cuda {

/// The .cuh templates and the headers they share with the host, as they were when spsolve was built.
const std::vector<SourceFile>& embedded_sources();

/// Compiles kernels from the embedded templates and remembers the machine code on disk, by a hash of sources,
/// constants, architecture and NVRTC version. Many processes may share the directory: a file appears under
/// its name only when it is whole, and one that does not match its checksum is compiled again.
class KernelCompiler {
 public:
  /// `cache` is created when it is first written; if it is empty or cannot be written, nothing is kept.
  explicit KernelCompiler(std::string architecture, std::filesystem::path cache = cache_directory());

  /// Machine code (cubin) of the template `name`, with `constants` as its constants.cuh. Throws Error.
  std::vector<char> compile(std::string_view name, const std::string& constants) const;

  /// The same without looking at the cache; its log tells registers and spills.
  Compiled compile_fresh(std::string_view name, const std::string& constants) const;

  const std::string& architecture() const { return architecture_; }

 private:
  std::string architecture_;
  std::filesystem::path cache_;
  Nvrtc nvrtc_;
};

/// A kernel loaded on the current device.
class Kernel {
 public:
  Kernel(const std::vector<char>& cubin, const char* name);

  /// Threads of a block, bytes of dynamic shared memory and resident blocks per multiprocessor with them.
  int resident_blocks(int threads, std::size_t shared_bytes) const;
  /// Allows launches with so many bytes of dynamic shared memory.
  void allow_shared_bytes(std::size_t shared_bytes) const;

  /// Enqueues a launch with one argument, copied now.
  template <class Arguments>
  void launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
              const Arguments& arguments) const {
    void* pointers[] = {const_cast<Arguments*>(&arguments)};
    launch_with(grid, block, shared_bytes, stream, pointers);
  }

 private:
  void launch_with(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                   void** arguments) const;

  struct Unload {
    void operator()(cudaLibrary_t library) const { cudaLibraryUnload(library); }
  };
  std::vector<char> cubin_;
  std::unique_ptr<std::remove_pointer_t<cudaLibrary_t>, Unload> library_;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace spsolve::cuda
