// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/array_reader.hpp"
#include "io/checkpoint.hpp"
#include "kernels/error.hpp"

namespace {

/// Accepts any outcome except a crash or another exception than Error.
template <class Work>
void attempt(Work&& work) {
  try {
    work();
  } catch (const spsolve::Error&) {
  }
}

}  // namespace

/// Reads any bytes as an HDF5 file: as weights, as a grid, and as a checkpoint.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("spsolve_fuzz_" + std::to_string(getpid()) + ".h5");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  spsolve::Domain domain;
  domain.dimensions = 2;
  domain.shape = {1, 3, 5};
  attempt([&] {
    spsolve::read_box(file, "/u", domain, domain.box(),
                      [](const spsolve::Index3&, std::span<const double>) {});
  });
  attempt([&] { spsolve::read_weights(file, "/weights", 2); });
  attempt([&] { spsolve::open_checkpoint(file); });
  std::filesystem::remove(file);
  return 0;
}
