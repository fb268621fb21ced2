// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_format.hpp"
#include "kernels/box.hpp"
#include "kernels/precision.hpp"

namespace spsolve::testing {

using ::testing::HasSubstr;

/// Is a directory for the ranks of one test, which is removed at the end.
class SharedDirectory {
 public:
  explicit SharedDirectory(const Communicator& world) : world_(world) {
    std::string name = (std::filesystem::temp_directory_path() / "spsolve_io_XXXXXX").string();
    if (world_.root() && !mkdtemp(name.data())) world_.abort(Status::file_failure);
    path_ = world_.broadcast(name);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  ~SharedDirectory() {
    world_.barrier();
    std::error_code ignored;
    if (world_.root()) std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  Communicator world_;
  std::filesystem::path path_;
};

/// Returns a value that every storage format holds exactly and that differs after any exchange of axes.
inline double sample_value(const Index3& p) {
  return static_cast<double>((p[z_axis] * 29 + p[y_axis] * 7 + p[x_axis]) % 127 - 63) / 8.0;
}

/// Returns sample values times a power of two, so that the arrays of a file can differ.
inline RowSource sample_rows(Precision precision, double factor = 1.0) {
  return [precision, factor](const Index3& begin, std::int64_t points, std::byte* out) {
    with_storage(precision, [&]<class Storage>() {
      auto* row = reinterpret_cast<Storage*>(out);
      for (std::int64_t i = 0; i < points; ++i)
        row[i] = to_storage<Storage>(factor * sample_value(begin + Index3{0, 0, i}));
    });
  };
}

/// Returns part `index` of `parts` of a box of `shape`, in C order of the parts; it is empty if there are
/// more parts than points.
inline Box part_of(const Index3& shape, const Index3& parts, int index) {
  const Index3 at = point_of(index, parts);
  Box box;
  for (int axis = 0; axis < axis_count; ++axis) {
    box.begin[axis] = shape[axis] * at[axis] / parts[axis];
    box.end[axis] = shape[axis] * (at[axis] + 1) / parts[axis];
  }
  return box;
}

/// Returns every way to cut a grid of `shape` into `ranks` boxes along its axes, each as the box of `rank`.
/// The last way gives the whole grid to the last rank.
inline std::vector<Box> decompositions(const Index3& shape, int rank, int ranks) {
  std::vector<Box> boxes{rank == ranks - 1 ? box_of(shape) : Box{}};
  for (std::int64_t z = 1; z <= ranks; ++z)
    for (std::int64_t y = 1; z * y <= ranks; ++y)
      if (ranks % (z * y) == 0) boxes.push_back(part_of(shape, {z, y, ranks / (z * y)}, rank));
  return boxes;
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::string bytes(std::filesystem::file_size(file), '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), std::ssize(bytes));
  return bytes;
}

/// Flips one bit of a file.
inline void flip_bit(const std::filesystem::path& file, std::int64_t byte, int bit) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(byte);
  const int value = stream.get();
  stream.seekp(byte);
  stream.put(static_cast<char>(value ^ (1 << bit)));
}

inline void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Returns the values that read(sink) passes to a ValueSink for the points of a box, x fastest.
template <class Read>
std::vector<double> values_on(const Box& box, Read&& read) {
  std::vector<double> values(static_cast<std::size_t>(box.points()));
  read([&](const Index3& begin, std::span<const double> row) {
    std::ranges::copy(row, values.begin() + index_of(begin - box.begin, box.extent()));
  });
  return values;
}

/// Returns the message of the Error that `work` throws and sets `status`; returns "" if it throws none.
template <class Work>
std::string error_of(Work&& work, Status* status = nullptr) {
  try {
    work();
  } catch (const Error& error) {
    if (status) *status = error.status();
    return error.what();
  }
  return "";
}

}  // namespace spsolve::testing
