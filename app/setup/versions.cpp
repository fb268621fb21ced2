// SPDX-License-Identifier: Apache-2.0
#include "app/setup/versions.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <toml++/impl/version.h>
#include <CLI/Version.hpp>

#include "app/setup/version.hpp"
#include "io/hdf5/hdf5.hpp"
#ifdef SPSOLVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace spsolve {

namespace {

std::string cuda_version() {
#ifdef SPSOLVE_CUDA
  return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#else
  return "none";
#endif
}

}  // namespace

std::map<std::string, std::string> library_versions() {
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(mpi, &length);
  std::string mpi_name(mpi, static_cast<std::size_t>(length));
  mpi_name = mpi_name.substr(0, mpi_name.find(','));
  unsigned major = 0, minor = 0, release = 0;
  check_hdf5(H5get_libversion(&major, &minor, &release));
#ifdef H5_HAVE_PARALLEL
  const char* parallel = "parallel";
#else
  const char* parallel = "serial";
#endif
  return {{"spsolve", version},
          {"compiler", __VERSION__},
          {"MPI", mpi_name},
          {"HDF5", fmt::format("{}.{}.{} ({})", major, minor, release, parallel)},
          {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
          {"CLI11", CLI11_VERSION},
          {"CUDA", cuda_version()}};
}

}  // namespace spsolve
