// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/mpi_session.hpp"
#include "io/array_reader.hpp"
#include "io/checkpoint.hpp"
#include "io/file_info.hpp"
#include "kernels/error.hpp"
#include "tests/fuzz/hdf5_recipe.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Starts MPI, which is never used between processes here, for as long as the program runs.
const spsolve::Communicator& this_process() {
  static int no_arguments = 0;
  static char** nothing = nullptr;
  static const spsolve::MpiSession session(no_arguments, nothing);
  static const spsolve::Communicator self(MPI_COMM_SELF);
  return self;
}

/// Lets the HDF5 library keep some memory of files that it has closed. Otherwise it returns a table of 512
/// KiB for each file, whose pages are then mapped anew for the next file, which takes most of the time.
/// Without a limit it keeps gigabytes after some files, which each child process of failure_of_trial() would
/// free again.
void keep_memory_of_library() {
  constexpr int bytes = 1 << 20;
  H5set_free_list_limits(bytes, bytes, bytes, bytes, bytes, bytes);
}

/// Opens the files of the corpus from which recipes begin.
std::vector<hid_t> open_bases() {
  keep_memory_of_library();
  std::vector<hid_t> bases;
  for (const char* name : {"checkpoint_of_wave.h5", "snapshot_of_wave.hdf", "latest.h5"}) {
    std::ifstream file(std::filesystem::path(SPSOLVE_HDF5_CORPUS) / name, std::ios::binary);
    bases.push_back(spsolve::testing::open_base(Bytes(std::istreambuf_iterator<char>(file), {})));
    if (bases.back() < 0) std::abort();
  }
  return bases;
}

/// Returns a path in memory if the machine has a file system there: each input is a file for a moment.
std::filesystem::path path_of_inputs() {
  const std::filesystem::path memory = "/dev/shm";
  return (access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path()) /
         ("spsolve_fuzz_" + std::to_string(getpid()) + ".h5");
}

bool is_hdf5(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t signature[] = {0x89, 'H', 'D', 'F'};
  return bytes.size() >= std::size(signature) && std::equal(signature, std::end(signature), bytes.begin());
}

/// Reads a file as a grid, as weights, as a checkpoint or as `spsolve info` does.
void read(const std::filesystem::path& file, int reader) {
  const spsolve::Communicator& self = this_process();
  spsolve::Domain domain;
  domain.dimensions = 2;
  domain.shape = {1, 3, 5};
  const auto ignore = [](const spsolve::Index3&, std::span<const double>) {};
  try {
    if (reader == 0) spsolve::read_boxes(self, file, "/u", domain, domain.box(), ignore);
    if (reader == 1) spsolve::read_weights(file, "/weights", 2);
    if (reader == 2) spsolve::verified_checkpoint(self, file);
    if (reader == 3) spsolve::describe_file(self, file);
  } catch (const spsolve::Error&) {  // any outcome is right except a crash or another exception
  }
}

}  // namespace

/// Reads an HDF5 file. Inputs that begin with the signature of HDF5 are the bytes of the file, and all
/// readers read it. Others are recipes, whose first byte names a reader: the library takes a millisecond for
/// each file that it opens.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path file = path_of_inputs();
  static const std::vector<hid_t> bases = open_bases();
  constexpr int readers = 4;
  const std::span input(data, size);
  const bool whole = is_hdf5(input);
  if (input.empty()) return 0;
  if (whole)
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  else
    spsolve::testing::follow_recipe(input.subspan(1), bases, file);
  for (int reader = 0; reader < readers; ++reader)
    if (whole || input[0] % readers == reader) read(file, reader);
  std::filesystem::remove(file);
  return 0;
}
