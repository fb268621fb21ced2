// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/program.hpp"

#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {
namespace {

std::string hash_name(const std::vector<std::string_view>& parts) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();  // hashing lengths too makes different lists of parts differ
    XXH3_128bits_update(state.get(), &length, sizeof length);
    XXH3_128bits_update(state.get(), part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

/// Reads a cache file: a checksum of the machine code, then the code. Returns an empty vector if the checksum
/// does not match.
std::vector<char> read_checked(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  XXH64_hash_t checksum = 0;
  if (bytes.size() <= sizeof checksum) return {};
  std::memcpy(&checksum, bytes.data(), sizeof checksum);
  bytes.erase(bytes.begin(), bytes.begin() + sizeof checksum);
  return checksum == XXH3_64bits(bytes.data(), bytes.size()) ? bytes : std::vector<char>{};
}

/// Writes a cache file under a temporary name and renames it when it is complete. If anything fails (a full
/// or read-only cache), an existing file stays as it was.
void write_whole(const std::filesystem::path& path, const std::vector<char>& cubin) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::filesystem::path part =
      path.string() + "." + host.data() + "." + std::to_string(gettid()) + ".tmp";
  const XXH64_hash_t checksum = XXH3_64bits(cubin.data(), cubin.size());
  std::ofstream file(part, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  file.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
  file.close();
  if (file) std::filesystem::rename(part, path, ignored);
  if (!file || ignored) std::filesystem::remove(part, ignored);
}

}  // namespace

KernelCompiler::KernelCompiler(std::string architecture, std::filesystem::path cache)
    : architecture_(std::move(architecture)), cache_(std::move(cache)) {}

Compiled KernelCompiler::compile_fresh(std::string_view name, const std::string& constants) const {
  std::vector<SourceFile> files = embedded_sources();
  files.push_back({"constants.cuh", constants});
  for (const SourceFile& file : files)
    if (file.name == name) return nvrtc_.compile(file, files, architecture_);
  throw Error(Status::device_failure, "no kernel template is named " + std::string(name));
}

std::vector<char> KernelCompiler::compile(std::string_view name, const std::string& constants) const {
  if (cache_.empty()) return compile_fresh(name, constants).cubin;
  std::vector<std::string_view> parts{name, constants, architecture_, nvrtc_.compiler()};
  for (const SourceFile& file : embedded_sources()) {
    parts.push_back(file.name);
    parts.push_back(file.text);
  }
  const std::filesystem::path path = cache_ / (hash_name(parts) + ".cubin");
  std::vector<char> cubin = read_checked(path);
  if (!cubin.empty()) return cubin;
  cubin = compile_fresh(name, constants).cubin;
  write_whole(path, cubin);
  return cubin;
}

Code KernelCompiler::begin(std::string_view name, const std::string& constants) const {
  return std::async(std::launch::async, [compiler = *this, name = std::string(name), constants] {
    return compiler.compile(name, constants);
  });
}

const void* Kernel::loaded() const {
  if (!kernel_) {
    cudaLibrary_t library = nullptr;
    check_cuda(cudaLibraryLoadData(&library, cubin_.get().data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    library_.reset(library);
    cudaKernel_t kernel = nullptr;
    check_cuda(cudaLibraryGetKernel(&kernel, library, name_.c_str()));
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(max_shared_bytes_)));
    kernel_ = kernel;
  }
  return reinterpret_cast<const void*>(kernel_);
}

int Kernel::resident_blocks(int threads, std::size_t shared_bytes) const {
  const auto [known, is_new] = resident_blocks_.try_emplace({threads, shared_bytes});
  if (is_new)
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&known->second, loaded(), threads, shared_bytes));
  return known->second;
}

void Kernel::launch_with(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                         void** arguments) const {
  check_cuda(cudaLaunchKernel(loaded(), grid, block, arguments, shared_bytes, stream));
}

}  // namespace spsolve::cuda
