// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/trial_reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/hdf5/chunk_reader.hpp"
#include "io/hdf5/hdf5.hpp"
#include "kernels/box.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

constexpr std::size_t max_bytes = 16 << 20;  // the largest attribute that is read
/// Limits the values that are read of a file, as doubles 32 MiB, to a part of a second. Values beyond are
/// safe by what is checked of all: types, lengths of chunks, and filters (by ChunkReader, before HDF5
/// decodes).
constexpr std::int64_t max_values = 1 << 22;
constexpr rlim_t max_computing = 10;  // seconds, of which sound files need a small part
/// Limits the seconds that the child may take by the clock. A child that sleeps does not compute, so it would
/// never reach max_computing. The additional time is for slow disks and busy processors.
constexpr unsigned max_seconds = 60;
/// Exit statuses of the child: it says nothing about the file, or HDF5 must not read the file.
constexpr int out_of_memory = 1, damaged = 2;

/// Returns true if the metadata of a file have no checksums: its first block is of version 0 or 1. That block
/// lies at 0 or, behind a user block, at 512, 1024, 2048 and so on (HDF5 File Format Specification, II.A).
bool has_no_checksums(const std::filesystem::path& file) {
  constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  constexpr std::streamoff longest_user_block = 1 << 24;
  std::ifstream bytes(file, std::ios::binary);
  std::array<char, 9> start{};
  for (std::streamoff at = 0; at <= longest_user_block; at = at == 0 ? 512 : 2 * at) {
    if (!bytes.seekg(at) || !bytes.read(start.data(), start.size())) return false;
    if (std::equal(signature.begin(), signature.end(), start.begin())) return start[8] == 0 || start[8] == 1;
  }
  return false;
}

/// Returns the number of bytes of `points` values of a type, or more than max_bytes if there are too many.
std::size_t bytes_of(hssize_t points, hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (points <= 0 || size == 0) return 0;
  return static_cast<std::size_t>(points) > max_bytes / size ? max_bytes + 1
                                                             : static_cast<std::size_t>(points) * size;
}

// The parent reports what fails in these functions, because it reads the file again.

herr_t try_attribute(hid_t object, const char* name, const H5A_info_t*, void*) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return 0;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const std::size_t bytes = bytes_of(H5Sget_simple_extent_npoints(space), type);
  if (bytes > 0 && bytes <= max_bytes) {
    std::vector<char> values(bytes);
    H5Aread(attribute, type, values.data());
  }
  H5Aclose(attribute);
  return 0;
}

/// Returns true if all bits of a number lie within its bytes. HDF5 1.10 trusts the type to say so.
bool has_sound_bits(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_ENUM) return has_sound_bits(Hdf5Id(H5Tget_super(type), H5Tclose));
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) return true;
  const std::size_t bits = 8 * H5Tget_size(type);
  const auto lie_within = [&](std::size_t first, std::size_t count, std::size_t most) {
    return count > 0 && count <= std::min(bits, most) && first <= bits - count;
  };
  const int offset = H5Tget_offset(type);
  if (offset < 0 || !lie_within(static_cast<std::size_t>(offset), H5Tget_precision(type), bits)) return false;
  if (kind == H5T_INTEGER) return true;
  constexpr std::size_t most_of_exponent = 63;  // a signed integer of 64 bits holds the exponent
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  check_hdf5(H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits));
  return lie_within(sign, 1, bits) && lie_within(exponent, exponent_bits, most_of_exponent) &&
         lie_within(mantissa, mantissa_bits, bits);
}

/// Reads values of a dataset as its readers do, `left` at most: all, or those of the first chunks.
void try_values(hid_t dataset, hid_t creation, std::int64_t& left) {
  const auto shape = extents_of(dataset);
  if (shape.empty() || shape.size() > axis_count) return;
  Index3 extent{1, 1, 1}, chunk{1, 1, 1}, count{};
  std::copy(shape.begin(), shape.end(), extent.end() - std::ssize(shape));
  std::int64_t cost = 1;  // of a chunk, or of a value without chunks
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    constexpr std::int64_t least_cost = 256;  // finding a chunk takes as long as reading some hundred values
    std::ranges::copy(chunk_extents(dataset), chunk.end() - std::ssize(shape));
    cost = std::max(volume(chunk), least_cost);
  }
  for (int axis = 0; axis < axis_count; ++axis) count[axis] = ceil_div(extent[axis], chunk[axis]);
  for (std::int64_t& chunks : count)
    while (chunks > 1 && !has_volume_within(count, left / cost)) chunks /= 2;
  if (!has_volume_within(count, left / cost)) return;
  left -= volume(count) * cost;
  Box box;
  for (int axis = 0; axis < axis_count; ++axis)
    box.end[axis] = std::min(extent[axis], count[axis] * chunk[axis]);
  std::vector<double> values(static_cast<std::size_t>(box.points()));
  ChunkReader(dataset).read(box, H5T_NATIVE_DOUBLE, values.data());
}

/// Looks at what HDF5 trusts of a dataset, and ends the process if that is damaged. Reads `left` values at
/// most.
void try_dataset(hid_t dataset, std::int64_t& left) try {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), type(H5Dget_type(dataset), H5Tclose);
  // Values of virtual datasets lie in files that linked_file() tries. HDF5 opens some for the extent already.
  if (H5Pget_layout(creation) == H5D_VIRTUAL) return;
  H5Dget_storage_size(dataset);
  H5Pall_filters_avail(creation);
  if (!has_sound_bits(type) || !has_whole_chunks(dataset)) ::_exit(damaged);
  // Raw files hold nothing that HDF5 trusts.
  if (H5Pget_external_count(creation) == 0 && holds_numbers(type)) try_values(dataset, creation, left);
} catch (const Error&) {  // the parent says what fails when it reads the dataset
}

void try_object(hid_t file, const char* name, std::int64_t& left) {
  const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) return;
  hsize_t index = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &index, try_attribute, nullptr);
  if (H5Iget_type(object) == H5I_DATASET) try_dataset(object, left);
  H5Oclose(object);
}

void read_all(const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5Lunregister(H5L_TYPE_EXTERNAL);  // linked_file() tries the files behind links
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return;
  constexpr std::size_t max_objects = 4096;
  std::vector<std::string> names{"/"};
  H5Lvisit(
      file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        auto& all = *static_cast<std::vector<std::string>*>(data);
        all.emplace_back(name);
        return all.size() < max_objects ? 0 : 1;
      },
      &names);
  std::int64_t left = max_values;
  for (const std::string& name : names) try_object(file, name.c_str(), left);
  H5Fclose(file);
  // Memory that was overwritten shows when it is freed. H5close() would free more, but it crashes on virtual
  // datasets that the parent has open.
  H5garbage_collect();
  malloc_trim(0);
}

/// Runs the child process: it ends without a message or a core file, and after max_computing or max_seconds
/// at most.
[[noreturn]] void be_child(const std::filesystem::path& file) {
  for (const int fatal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGTERM, SIGINT, SIGALRM})
    std::signal(fatal, SIG_DFL);
  sigset_t alarm_signal;
  ::sigemptyset(&alarm_signal);
  ::sigaddset(&alarm_signal, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm_signal, nullptr);
  ::alarm(max_seconds);
  const rlimit no_core{0, 0}, seconds{max_computing, max_computing};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &seconds);
  if (const int null = ::open("/dev/null", O_WRONLY); null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  renew_hdf5_lock();
  try {
    read_all(file);
  } catch (...) {
    ::_exit(out_of_memory);
  }
  ::_exit(0);
}

/// Holds what a child process found out about a file.
struct TrialResult {
  std::string failure;   // why the child cannot read the file, empty if it can or nothing is known
  bool lasting = false;  // true if a further trial would end in the same way
};

TrialResult verdict_of_child(const std::filesystem::path& file) {
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) be_child(file);
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || (WIFEXITED(status) && WEXITSTATUS(status) == out_of_memory)) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {"", true};
  if (WIFEXITED(status) && WEXITSTATUS(status) == damaged)
    return {"is a damaged HDF5 file (numbers have more bits, or chunks another length, than their types say)",
            true};
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM)
    return {fmt::format("was not read within {} seconds; its file system may not answer", max_seconds)};
  // A child that lacks memory may be killed.
  return {"is a damaged HDF5 file (the HDF5 library does not survive reading it)", signal != SIGKILL};
}

/// Holds the device, the number, the size and the last change (seconds and nanoseconds) of a file.
using Version = std::tuple<dev_t, ino_t, off_t, time_t, long>;

/// Returns the version of a file that has not changed for some seconds. The clock of a file system ticks
/// slowly, so another version may have the same time as a file that has just been written.
std::optional<Version> version_of(const std::filesystem::path& file) {
  constexpr time_t settled = 2;  // seconds
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0 || found.st_mtim.tv_sec + settled > ::time(nullptr))
    return std::nullopt;
  return Version{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

}  // namespace

std::string failure_of_trial(const std::filesystem::path& file) {
  if (!has_no_checksums(file)) return "";
  const auto lock = lock_hdf5();  // no other thread may be inside the library while the process forks
  static std::map<Version, std::string> tried;
  const auto version = version_of(file);
  if (version)
    if (const auto known = tried.find(*version); known != tried.end()) return known->second;
  TrialResult verdict = verdict_of_child(file);
  if (version && verdict.lasting) tried.emplace(*version, verdict.failure);
  return std::move(verdict.failure);
}

}  // namespace spsolve
