// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <source_location>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/error.hpp"
#include "kernels/precision.hpp"

/// Only files of io/hdf5 include the headers of HDF5. Every call is serial, with the default driver, even
/// with a parallel HDF5 library: a collective HDF5 write on a full disk reports success and then hangs in
/// H5Fclose, and a rank that is killed during a collective write leaves a file that does not open. Ranks read
/// hyperslabs on their own; io/array_file writes.
namespace spsolve {

/// Keeps other threads from calling HDF5, which is not made for several threads. Threads that write files
/// while the run goes on hold it around all calls; the time they spend there is that of small metadata.
std::unique_lock<std::recursive_mutex> lock_hdf5();
/// Makes the lock anew in a child process, which counts as another thread than the one that owns the lock.
void renew_hdf5_lock();

/// Returns `result` unless it is negative; then throws Error(file_failure) with HDF5's innermost description.
hid_t check_hdf5(hid_t result, std::source_location where = std::source_location::current());

/// Returns HDF5's innermost description of its last failure.
std::string last_hdf5_error();

/// Owns one HDF5 identifier.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id(hid_t id, Close closer, std::source_location where = std::source_location::current())
      : id_(check_hdf5(id, where)), close_(closer) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }

  operator hid_t() const { return id_; }
  /// Closes now, so that a failed write of buffered data is seen.
  void close() { check_hdf5(close_(std::exchange(id_, H5I_INVALID_HID))); }

 private:
  hid_t id_;
  Close close_;
};

/// Returns the result of `work`. Errors that do not name the file get it as a prefix, with the name of the
/// object that was read.
template <class Work>
auto naming(const std::filesystem::path& file, Work&& work, const std::string& within = "") {
  try {
    return work();
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(file.string())) throw;
    throw Error(error.status(), file.string() + within + ": " + what);
  }
}

/// Opens a file for reading. A path that is missing, unreadable or no HDF5 file throws Error(`status`).
Hdf5Id open_hdf5(const std::filesystem::path& file, Status status = Status::file_failure);
/// Returns the path that an HDF5 file is written to: the target if `file` is a link. Throws
/// Error(file_failure) if that is a device, a pipe or a socket.
std::filesystem::path hdf5_target(const std::filesystem::path& file);
/// Opens a file for changing what it holds.
Hdf5Id modify_hdf5(const std::filesystem::path& file);
/// Creates or empties a file that HDF5 1.8 and later read and whose metadata carry checksums, and allocates
/// the disk space of `bytes` bytes, which must suffice for the whole file, so that a full disk shows here.
/// Calls HDF5 under lock_hdf5().
void reserve_hdf5(const std::filesystem::path& file, std::int64_t bytes);
/// Opens a file of reserve_hdf5(). Objects of at least `large` bytes start at a multiple of `alignment`
/// bytes. Closing cuts off unused space.
Hdf5Id open_reserved_hdf5(const std::filesystem::path& file, std::int64_t large, std::int64_t alignment);
/// Calls reserve_hdf5(), then open_reserved_hdf5().
Hdf5Id create_hdf5(const std::filesystem::path& file, std::int64_t bytes, std::int64_t large,
                   std::int64_t alignment);

/// Creates a group without the time of its creation.
Hdf5Id create_group(hid_t parent, const std::string& name);
/// Returns creation properties of files (H5P_FILE_CREATE), groups and datasets without times: equal contents
/// give equal bytes.
Hdf5Id timeless_properties(hid_t property_class);

/// Returns the file type of a storage format: IEEE float64, float32, float16, or bfloat16 (not IEEE: 8
/// exponent, 7 mantissa bits).
Hdf5Id storage_type(Precision precision);
/// Returns the storage format that `type` is, with fp32 for float32; throws Error(file_failure) for any
/// other.
Precision storage_precision(hid_t type);
/// Returns true if values convert to doubles: integers, floating-point numbers, and enumerations by their
/// integers (h5py's booleans: 0 and 1).
bool holds_numbers(hid_t type);
/// Returns the type's name as numpy names it: "float64", "bfloat16", "int32", "string", ...
std::string type_name(hid_t type);

/// Creates a contiguous dataset without values, whose position in the file is known at once. HDF5 does not
/// fill it, because all values will be written.
Hdf5Id create_contiguous(hid_t parent, const std::string& name, hid_t type,
                         const std::vector<hsize_t>& extents);
/// Returns the byte offset of the values of a dataset that create_contiguous() made.
std::int64_t values_offset(hid_t dataset);

/// Returns the extents of a dataset, slowest axis first. Throws Error(invalid_input) if the dataset takes
/// values from a file that unsafe_source() names, which HDF5 may open when it is asked for the extents.
std::vector<std::int64_t> dataset_shape(hid_t dataset);
/// Returns the extents of a dataset without a look at the sources of a virtual dataset: unsafe_source() must
/// have found none.
std::vector<std::int64_t> extents_of(hid_t dataset);
/// Returns the extents of the chunks of a dataset with the chunked layout, slowest axis first. Throws
/// Error(invalid_input) if the file says what no library writes: another number of axes than the dataset has,
/// or chunks without points or of more than 4 GiB.
std::vector<std::int64_t> chunk_extents(hid_t dataset);

/// Reads a box of an array of 1 to 3 dimensions, converted to `memory_type`, x fastest and without gaps.
void read_hyperslab(hid_t dataset, const Box& box, hid_t memory_type, void* values);

/// Holds the value of an attribute: a number, a text or a list of numbers.
using AttributeValue =
    std::variant<std::int64_t, double, std::string, std::vector<std::int32_t>, std::vector<std::int64_t>,
                 std::vector<std::uint64_t>, std::vector<double>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Creates an attribute, or overwrites it with a value of the same size. Text has a fixed length: VTK
/// requires it, and variable-length text would lie in a heap without checksum. Vectors are rank-1.
void write_attribute(hid_t object, const std::string& name, const AttributeValue& value);
void write_attributes(hid_t object, const Attributes& attributes);

/// Returns an attribute as the type Value: std::int64_t, double, std::string or a std::vector of
/// std::int64_t, std::uint64_t or double. Throws Error(file_failure) if it is missing or of another class.
template <class Value>
Value read_attribute(hid_t object, const std::string& name);
bool has_attribute(hid_t object, const std::string& name);
std::vector<std::string> attribute_names(hid_t object);
/// Returns an attribute of any type as readable text; long arrays and long text are cut.
std::string attribute_text(hid_t object, const std::string& name);

/// Returns the names of the links in a group, or at the root of a file, in alphabetical order.
std::vector<std::string> link_names(hid_t group);

/// Returns the paths of all datasets below the root of a file, and of links there that cannot be opened, in
/// alphabetical order.
std::vector<std::string> dataset_names(hid_t file);

}  // namespace spsolve
