// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cache_directory.hpp"
#include "kernels/cuda/runtime/nvrtc.hpp"

namespace spsolve::cuda {

/// Returns the .cuh templates and the headers that they share with the host, as they were when spsolve was
/// built.
const std::vector<SourceFile>& embedded_sources();

/// Holds machine code (cubin) that a compiler thread may still be making. The destructor of the last copy
/// waits for that thread.
using Code = std::shared_future<std::vector<char>>;

/// Compiles kernels from the embedded templates and keeps the machine code on disk. The cache key is a hash
/// of sources, constants, architecture, NVRTC version and options.
///
/// Many processes may share the directory: a file appears under its name only when it is complete, and a file
/// that does not match its checksum is compiled again.
class KernelCompiler {
 public:
  /// The directory `cache` is created at the first write. If the path is empty or cannot be written, nothing
  /// is kept.
  explicit KernelCompiler(std::string architecture, std::filesystem::path cache = cache_directory());

  /// Returns the machine code (cubin) of the template `name`, compiled with `constants` as its constants.cuh.
  /// Throws Error.
  std::vector<char> compile(std::string_view name, const std::string& constants) const;

  /// Starts compile() in a thread of its own; get() of the result throws what compile() throws.
  Code begin(std::string_view name, const std::string& constants) const;

  /// Compiles without looking at the cache; the log of the result reports registers and spills.
  Compiled compile_fresh(std::string_view name, const std::string& constants) const;

  const std::string& architecture() const { return architecture_; }

 private:
  std::string architecture_;
  std::filesystem::path cache_;
  Nvrtc nvrtc_;
};

/// Holds a kernel that is loaded on the current device at its first use; it may still be compiling until
/// then.
class Kernel {
 public:
  /// `max_shared_bytes` is the largest amount of dynamic shared memory that any launch uses.
  Kernel(Code cubin, std::string name, std::size_t max_shared_bytes = 0)
      : cubin_(std::move(cubin)), name_(std::move(name)), max_shared_bytes_(max_shared_bytes) {}

  /// Returns how many blocks of `threads` threads and `shared_bytes` bytes of dynamic shared memory fit on
  /// one multiprocessor. The driver is asked once per pair.
  int resident_blocks(int threads, std::size_t shared_bytes) const;

  /// Enqueues a launch with one argument, which is copied before the call returns.
  template <class Arguments>
  void launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
              const Arguments& arguments) const {
    void* pointers[] = {const_cast<Arguments*>(&arguments)};
    launch_with(grid, block, shared_bytes, stream, pointers);
  }

 private:
  void launch_with(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                   void** arguments) const;
  const void* loaded() const;

  struct Unload {
    void operator()(cudaLibrary_t library) const { cudaLibraryUnload(library); }
  };
  Code cubin_;
  std::string name_;
  std::size_t max_shared_bytes_;
  mutable std::unique_ptr<std::remove_pointer_t<cudaLibrary_t>, Unload> library_;
  mutable cudaKernel_t kernel_ = nullptr;
  mutable std::map<std::pair<int, std::size_t>, int> resident_blocks_;
};

}  // namespace spsolve::cuda
