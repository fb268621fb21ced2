// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <array>
#include <source_location>

#include "kernels/error.hpp"

namespace spsolve::cuda {
namespace {

std::shared_ptr<void> open_library() {
  const std::string name = "libnvrtc.so." + std::to_string(CUDA_VERSION_MAJOR);
  const std::string known = std::string(SPSOLVE_CUDA_LIBRARY_DIRECTORY) + "/" + name;
  for (const std::string& candidate : {name, known})
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, dlclose};
  const char* reason = dlerror();
  throw Error(Status::device_failure, "NVRTC, which compiles the CUDA kernels, was not found: " +
                                          std::string(reason ? reason : name) +
                                          "; install it (cuda-nvrtc) or set LD_LIBRARY_PATH");
}

constexpr std::array options{"--std=c++20", "-default-device", "--fmad=false", "--ptxas-options=-v"};

}  // namespace

template <class Function>
Function* Nvrtc::find(const char* name) const {
  void* symbol = dlsym(library_.get(), name);
  if (!symbol) throw Error(Status::device_failure, std::string("libnvrtc has no function ") + name);
  return reinterpret_cast<Function*>(symbol);
}

Nvrtc::Nvrtc() : library_(open_library()) {
  int minor = 0;
  find<decltype(nvrtcVersion)>("nvrtcVersion")(&major_, &minor);
  compiler_ = std::to_string(major_) + "." + std::to_string(minor);
  for (const char* option : options) compiler_.append(" ").append(option);
}

Compiled Nvrtc::compile(const SourceFile& main, const std::vector<SourceFile>& files,
                        const std::string& architecture) const {
  const auto error_string = find<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString");
  const auto check = [&](nvrtcResult status,
                         const std::source_location& place = std::source_location::current()) {
    if (status != NVRTC_SUCCESS)
      throw Error(Status::device_failure, std::string(place.file_name()) + ":" +
                                              std::to_string(place.line()) + ": NVRTC says " +
                                              error_string(status) + " for " + main.name);
  };

  std::vector<const char*> texts, names;
  for (const SourceFile& file : files) {
    texts.push_back(file.text.c_str());
    names.push_back(file.name.c_str());
  }
  nvrtcProgram handle = nullptr;
  check(find<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram")(
      &handle, main.text.c_str(), main.name.c_str(), static_cast<int>(files.size()), texts.data(),
      names.data()));
  const auto destroy = find<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram");
  const std::shared_ptr<void> program(handle, [destroy](nvrtcProgram p) { destroy(&p); });

  const std::string arch = "--gpu-architecture=" + architecture;
  std::vector<const char*> arguments{options.begin(), options.end()};
  arguments.push_back(arch.c_str());
  if (major_ >= 13) arguments.push_back("--no-cache");  // a program from NVRTC's cache comes without a log
  const nvrtcResult status = find<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram")(
      handle, static_cast<int>(arguments.size()), arguments.data());

  Compiled result;
  std::size_t size = 0;
  check(find<decltype(nvrtcGetProgramLogSize)>("nvrtcGetProgramLogSize")(handle, &size));
  result.log.resize(size);
  check(find<decltype(nvrtcGetProgramLog)>("nvrtcGetProgramLog")(handle, result.log.data()));
  if (status != NVRTC_SUCCESS)
    throw Error(Status::device_failure,
                main.name + " does not compile for " + architecture + ":\n" + result.log);
  check(find<decltype(nvrtcGetCUBINSize)>("nvrtcGetCUBINSize")(handle, &size));
  result.cubin.resize(size);
  check(find<decltype(nvrtcGetCUBIN)>("nvrtcGetCUBIN")(handle, result.cubin.data()));
  return result;
}

}  // namespace spsolve::cuda
