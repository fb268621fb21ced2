// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "io/file_descriptor.hpp"
#include "io/hdf5/dataset_sources.hpp"
#include "io/hdf5/linked_files.hpp"
#include "io/hdf5/trial_reading.hpp"
#include "io/text_file.hpp"
#include "kernels/box.hpp"

namespace spsolve {
namespace {

/// HDF5 prints its error stack to stderr by default; here the description goes into the message of an Error
/// instead.
void silence_error_stack() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Throws std::bad_alloc if memory for the tables of a file is not there. The library would crash.
void require_memory_of_a_file() {
  constexpr std::size_t bytes = 4 << 20;
  ::operator delete(::operator new(bytes));
}

/// Returns properties without file locks: files appear by rename and are never changed afterwards, and NFS
/// and Lustre mounts without a lock service would refuse to open them. The format is that of HDF5 1.8 (except
/// for virtual datasets): all later versions read it, all metadata have checksums, and no "file is open for
/// writing" mark remains after a crash.
Hdf5Id access_properties() {
  require_memory_of_a_file();
  silence_error_stack();
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  check_hdf5(H5Pset_file_locking(access, false, true));
  check_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
  return access;
}

std::vector<std::byte> empty_file() {
  const auto lock = lock_hdf5();
  const Hdf5Id access = access_properties();
  check_hdf5(H5Pset_fapl_core(access, 4096, false));
  const Hdf5Id file(H5Fcreate("empty", H5F_ACC_TRUNC, timeless_properties(H5P_FILE_CREATE), access),
                    H5Fclose);
  check_hdf5(H5Fflush(file, H5F_SCOPE_LOCAL));
  hsize_t bytes = 0;
  void* memory = nullptr;  // the driver's pointer to its buffer
  check_hdf5(H5Fget_filesize(file, &bytes));
  check_hdf5(H5Fget_vfd_handle(file, access, &memory));
  const auto* image = *static_cast<std::byte**>(memory);
  return {image, image + bytes};
}

Hdf5Id small_float(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias) {
  Hdf5Id type(H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose);
  check_hdf5(H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits));
  check_hdf5(H5Tset_size(type, 2));
  check_hdf5(H5Tset_ebias(type, bias));
  return type;
}

}  // namespace

std::string last_hdf5_error() {
  std::string text = "unknown failure";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* entry, void* data) -> herr_t {
        if (depth == 0 && entry->desc) *static_cast<std::string*>(data) = entry->desc;
        return 0;
      },
      &text);
  return text;
}

hid_t check_hdf5(hid_t result, std::source_location where) {
  if (result >= 0) return result;
  throw Error(Status::file_failure,
              fmt::format("HDF5: {} ({}:{})", last_hdf5_error(),
                          std::filesystem::path(where.file_name()).filename().string(), where.line()));
}

Hdf5Id open_hdf5(const std::filesystem::path& file, Status status) {
  const auto fail = [&](const std::string& reason) -> void {
    throw Error(status, fmt::format("{}: {}", file.string(), reason));
  };
  // HDF5 reports "unable to open file" for all of these cases.
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail("is a directory, not an HDF5 file");
  if (std::filesystem::is_other(file, ignored))
    fail("is a pipe or a device; HDF5 reads a file in any order, so write it to a disk first");
  errno = 0;
  if (!std::ifstream(file)) fail(errno ? std::strerror(errno) : "cannot be opened");
  static std::once_flag once;
  std::call_once(once, refuse_unsafe_links);
  if (const std::string failure = failure_of_trial(file); !failure.empty()) fail(failure);
  const Hdf5Id access = access_properties();
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, access);
  if (id < 0) {
    const std::string reason = last_hdf5_error();
    fail(H5Fis_hdf5(file.c_str()) > 0 ? fmt::format("damaged HDF5 file ({})", reason) : "not an HDF5 file");
  }
  return {id, H5Fclose};
}

std::filesystem::path hdf5_target(const std::filesystem::path& file) {
  std::filesystem::path target = followed(file);
  if (is_stream(target))
    throw Error(Status::file_failure,
                fmt::format("{}: is a device, a pipe or a socket, which takes no HDF5 file", file.string()));
  return target;
}

std::unique_lock<std::recursive_mutex> lock_hdf5() { return std::unique_lock(hdf5_mutex()); }

void renew_hdf5_lock() { new (&hdf5_mutex()) std::recursive_mutex; }

Hdf5Id modify_hdf5(const std::filesystem::path& file) {
  return {H5Fopen(file.c_str(), H5F_ACC_RDWR, access_properties()), H5Fclose};
}

void reserve_hdf5(const std::filesystem::path& file, std::int64_t bytes) {
  // The disk space must be allocated before HDF5 opens the file: after a write or a close that fails, HDF5
  // crashes when the library ends. So the empty file is made in memory.
  FileDescriptor reserved(file, FileDescriptor::Mode::create);
  reserved.write(0, empty_file());
  reserved.reserve(bytes);
  reserved.close();
}

Hdf5Id open_reserved_hdf5(const std::filesystem::path& file, std::int64_t large, std::int64_t alignment) {
  const Hdf5Id access = access_properties();
  check_hdf5(H5Pset_alignment(access, static_cast<hsize_t>(large), static_cast<hsize_t>(alignment)));
  return {H5Fopen(file.c_str(), H5F_ACC_RDWR, access), H5Fclose};
}

Hdf5Id create_hdf5(const std::filesystem::path& file, std::int64_t bytes, std::int64_t large,
                   std::int64_t alignment) {
  reserve_hdf5(file, bytes);
  return open_reserved_hdf5(file, large, alignment);
}

Hdf5Id create_group(hid_t parent, const std::string& name) {
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, timeless_properties(H5P_GROUP_CREATE), H5P_DEFAULT),
          H5Gclose};
}

Hdf5Id timeless_properties(hid_t property_class) {
  Hdf5Id properties(H5Pcreate(property_class), H5Pclose);
  check_hdf5(H5Pset_obj_track_times(properties, false));
  return properties;
}

Hdf5Id storage_type(Precision precision) {
  switch (precision) {
    case Precision::fp16:
      return small_float(5, 10, 15);
    case Precision::bf16:
      return small_float(8, 7, 127);
    case Precision::fp32:
    case Precision::tf32:
      return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
    case Precision::fp64:
      break;
  }
  return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
}

Precision storage_precision(hid_t type) {
  for (const auto precision : {Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16})
    if (H5Tequal(type, storage_type(precision)) > 0) return precision;
  throw Error(Status::file_failure,
              "type " + type_name(type) + " is none of float64, float32, float16, bfloat16");
}

bool holds_numbers(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_FLOAT || kind == H5T_INTEGER || kind == H5T_ENUM;
}

std::string type_name(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return H5Tequal(type, storage_type(Precision::bf16)) > 0 ? "bfloat16" : fmt::format("float{}", bits);
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return "compound (complex numbers or records)";
    case H5T_ENUM:
      return "enumeration or boolean";
    default:
      return "neither number nor text";
  }
}

std::vector<std::int64_t> dataset_shape(hid_t dataset) {
  if (const std::string unsafe = unsafe_source(dataset); !unsafe.empty())
    throw Error(Status::invalid_input, "takes values from " + unsafe);
  return extents_of(dataset);
}

std::vector<std::int64_t> extents_of(hid_t dataset) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const auto rank = check_hdf5(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
  return {extents.begin(), extents.begin() + rank};
}

std::vector<std::int64_t> chunk_extents(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), type(H5Dget_type(dataset), H5Tclose);
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const auto rank = check_hdf5(H5Pget_chunk(creation, H5S_MAX_RANK, extents.data()));
  std::vector<std::int64_t> chunk(extents.begin(), extents.begin() + rank);
  if (chunk.size() != dataset_shape(dataset).size())
    throw Error(Status::invalid_input, "its chunks have another number of axes");
  constexpr std::int64_t max_chunk_bytes = 0xffffffff;  // a limit of HDF5
  const auto element_bytes = static_cast<std::int64_t>(std::max<std::size_t>(1, H5Tget_size(type)));
  if (!has_volume_within(chunk, max_chunk_bytes / element_bytes))
    throw Error(Status::invalid_input, "its chunks have no points, or more than 4 GiB");
  return chunk;
}

Hdf5Id create_contiguous(hid_t parent, const std::string& name, hid_t type,
                         const std::vector<hsize_t>& extents) {
  const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  const Hdf5Id creation = timeless_properties(H5P_DATASET_CREATE);
  check_hdf5(H5Pset_layout(creation, H5D_CONTIGUOUS));
  check_hdf5(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
  check_hdf5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  return {H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose};
}

std::int64_t values_offset(hid_t dataset) {
  const haddr_t address = H5Dget_offset(dataset);
  if (address == HADDR_UNDEF) check_hdf5(-1);
  return static_cast<std::int64_t>(address);
}

void read_hyperslab(hid_t dataset, const Box& box, hid_t memory_type, void* values) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  const auto rank = check_hdf5(H5Sget_simple_extent_ndims(space));
  std::array<hsize_t, axis_count> begin{}, extent{};
  for (int axis = 0; axis < axis_count; ++axis) {
    begin[axis] = static_cast<hsize_t>(box.begin[axis]);
    extent[axis] = static_cast<hsize_t>(box.extent()[axis]);
  }
  const auto absent = axis_count - rank;  // leading axes that a 1D or 2D array does not have
  check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data() + absent, nullptr,
                                 extent.data() + absent, nullptr));
  const Hdf5Id memory(H5Screate_simple(axis_count, extent.data(), nullptr), H5Sclose);
  check_hdf5(H5Dread(dataset, memory_type, memory, space, H5P_DEFAULT, values));
}

std::vector<std::string> link_names(hid_t group) {
  std::vector<std::string> names;
  check_hdf5(H5Literate(
      group, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
      },
      &names));
  return names;
}

std::vector<std::string> dataset_names(hid_t file) {
  // Links are visited instead of objects, so that a dataset that is linked twice is found under both names.
  std::vector<std::string> links;
  check_hdf5(H5Lvisit(
      file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->push_back(fmt::format("/{}", name));
        return 0;
      },
      &links));
  std::erase_if(links, [&](const std::string& path) {
    const hid_t object = H5Oopen(file, path.c_str(), H5P_DEFAULT);
    if (object < 0) return false;
    const Hdf5Id owner(object, H5Oclose);
    return H5Iget_type(object) != H5I_DATASET;
  });
  return links;
}

}  // namespace spsolve
