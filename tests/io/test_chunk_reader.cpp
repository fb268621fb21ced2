// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/array_reader.hpp"
#include "io/file_info.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve::testing {
namespace {

constexpr std::int64_t rows = 6, columns = 8;
constexpr hsize_t chunk_rows = 3;
constexpr std::size_t chunk_values = chunk_rows * columns;

using Bytes = std::vector<std::uint8_t>;

int value_at(std::int64_t y, std::int64_t x) { return static_cast<int>(100 + 37 * y + x); }

/// Writes /u with filters, and changes the stored bytes of its second chunk.
class ChunkReader : public ::testing::Test {
 protected:
  ChunkReader() {
    std::string name = (std::filesystem::temp_directory_path() / "spsolve_chunks_XXXXXX").string();
    directory_ = mkdtemp(name.data());
    static const bool found = H5PLprepend(SPSOLVE_TEST_FILTERS) >= 0;
    EXPECT_TRUE(found);
  }
  ~ChunkReader() override { std::filesystem::remove_all(directory_); }

  using SetFilters = std::function<void(hid_t creation)>;
  using Change = std::function<Bytes(Bytes)>;

  /// Returns the file, in which the second chunk is what `change` makes of it.
  std::filesystem::path file(const SetFilters& set, hid_t type, const Change& change = {}) const {
    const auto path = directory_ / "values.h5";
    const hsize_t shape[] = {rows, columns}, chunk[] = {chunk_rows, columns}, second[] = {chunk_rows, 0};
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const Hdf5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check_hdf5(H5Pset_chunk(creation, 2, chunk));
    set(creation);
    Bytes stored;
    {
      const Hdf5Id dataset(H5Dcreate2(file, "u", type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
      std::vector<int> values;
      for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x) values.push_back(value_at(y, x));
      check_hdf5(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
      check_hdf5(H5Dflush(dataset));
      hsize_t bytes = 0;
      check_hdf5(H5Dget_chunk_storage_size(dataset, second, &bytes));
      stored.resize(bytes);
      std::uint32_t left_out = 0;
      check_hdf5(H5Dread_chunk(dataset, H5P_DEFAULT, second, &left_out, stored.data()));
      EXPECT_EQ(left_out, 0u);  // the filters have encoded the chunk
    }
    if (!change) return path;
    const Bytes changed = change(stored);
    const Hdf5Id dataset(H5Dopen2(file, "u", H5P_DEFAULT), H5Dclose);
    check_hdf5(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, second, changed.size(), changed.data()));
    return path;
  }
  /// Writes a dataset "u" of one axis, in chunks that pass the filters which `set` chooses. Returns the bytes
  /// of all stored chunks.
  static hsize_t write_line(const std::string& path, const std::vector<int>& values, hsize_t chunk,
                            const SetFilters& set) {
    const hsize_t points = values.size();
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);  // no child process reads the format of 1.8
    check_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18));
    const Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    const Hdf5Id space(H5Screate_simple(1, &points, nullptr), H5Sclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    check_hdf5(H5Pset_chunk(creation, 1, &chunk));
    set(creation);
    const Hdf5Id dataset(H5Dcreate2(file, "u", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                         H5Dclose);
    check_hdf5(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return H5Dget_storage_size(dataset);
  }
  /// Returns the grid of what write_line() has written.
  static Domain line_of(const std::vector<int>& values) {
    return {.dimensions = 1, .shape = {1, 1, std::ssize(values)}};
  }
  /// Returns the message of the Error with which reading ends, or nothing; then all values are right.
  static std::string failure(const std::filesystem::path& file) {
    Domain domain;
    domain.dimensions = 2;
    domain.shape = {1, rows, columns};
    try {
      std::int64_t seen = 0;
      read_boxes(Communicator(), file, "u", domain, domain.box(),
                 [&](const Index3& begin, std::span<const double> values) {
                   for (std::size_t i = 0; i < values.size(); ++i, ++seen)
                     EXPECT_EQ(values[i], value_at(begin[1], begin[2] + static_cast<std::int64_t>(i)));
                 });
      EXPECT_EQ(seen, rows * columns);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_input);
      return error.what();
    }
  }
  /// Expects a refusal that names file, dataset, chunk and reason; `info` describes the file nevertheless.
  static void expect_refused(const std::filesystem::path& file, const std::string& reason) {
    const std::string message = failure(file), where = file.string() + ":u: the chunk at [3, 0] is damaged: ";
    EXPECT_TRUE(message.starts_with(where)) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    const FileInfo info = describe_file(Communicator(MPI_COMM_SELF), file);
    EXPECT_NE(info.text.find(reason), std::string::npos) << info.text;
  }

  std::filesystem::path directory_;
};

void scale_offset(hid_t creation) { check_hdf5(H5Pset_scaleoffset(creation, H5Z_SO_INT, 0)); }
void deflated_scale_offset(hid_t creation) {
  scale_offset(creation);
  check_hdf5(H5Pset_shuffle(creation));
  check_hdf5(H5Pset_deflate(creation, 6));
}
void n_bit(hid_t creation) { check_hdf5(H5Pset_nbit(creation)); }
void deflated(hid_t creation) {
  check_hdf5(H5Pset_shuffle(creation));
  check_hdf5(H5Pset_deflate(creation, 6));
}
void summed(hid_t creation) { check_hdf5(H5Pset_fletcher32(creation)); }

/// Chooses the filter of inverting_filter.cpp, which HDF5 loads.
void inverted(hid_t creation) { check_hdf5(H5Pset_filter(creation, 300, H5Z_FLAG_MANDATORY, 0, nullptr)); }
void deflated_inverted(hid_t creation) {
  deflated(creation);
  inverted(creation);
}
void inverted_deflated(hid_t creation) {
  inverted(creation);
  deflated(creation);
}
void inverted_scale_offset(hid_t creation) {
  scale_offset(creation);
  inverted(creation);
}

/// Returns how many bytes this process has read from files.
std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  counts >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

Hdf5Id twelve_bits() {
  Hdf5Id type(H5Tcopy(H5T_STD_I32LE), H5Tclose);
  check_hdf5(H5Tset_precision(type, 12));
  check_hdf5(H5Tset_offset(type, 3));
  return type;
}

Bytes deflate(const Bytes& bytes) {
  Bytes result(compressBound(bytes.size()));
  uLongf length = result.size();
  EXPECT_EQ(compress(result.data(), &length, bytes.data(), bytes.size()), Z_OK);
  result.resize(length);
  return result;
}

TEST_F(ChunkReader, LetsSoundChunksPass) {
  for (const SetFilters& set : {SetFilters(scale_offset), SetFilters(deflated_scale_offset),
                                SetFilters(deflated), SetFilters(summed)})
    for (const hid_t type : {H5T_STD_I32LE, H5T_STD_I16BE, H5T_STD_I64LE})
      EXPECT_EQ(failure(file(set, type)), "");
  EXPECT_EQ(failure(file(n_bit, twelve_bits())), "");
}

/// A chunk of equal values is a few bytes long when it has passed scale-offset and deflate.
TEST_F(ChunkReader, LetsLargeChunksOfOneValuePass) {
  const std::string path = directory_ / "one_value.h5";
  const std::vector<int> values(100000, 7);
  write_line(path, values, values.size(), deflated_scale_offset);
  const Domain domain = line_of(values);
  double sum = 0;
  read_boxes(Communicator(), path, "u", domain, domain.box(),
             [&](const Index3&, std::span<const double> row) {
               for (const double value : row) sum += value;
             });
  EXPECT_EQ(sum, 7.0 * static_cast<double>(values.size()));
}

TEST_F(ChunkReader, RefusesMoreBitsThanAValueHas) {
  expect_refused(file(scale_offset, H5T_STD_I32LE,
                      [](Bytes bytes) {
                        bytes[0] = 33;
                        return bytes;
                      }),
                 "scale-offset takes 33 bits for each value, which has 32");
}

TEST_F(ChunkReader, RefusesChunksThatAreCutOff) {
  const auto cut = [](std::size_t length) {
    return [length](Bytes bytes) {
      EXPECT_LT(length, bytes.size());
      bytes.resize(length);
      return bytes;
    };
  };
  expect_refused(file(scale_offset, H5T_STD_I32LE, cut(22)), "but 22 are stored");
  expect_refused(file(scale_offset, H5T_STD_I32LE, cut(3)), "but 3 are stored");
  expect_refused(file(n_bit, twelve_bits(), cut(12 * chunk_values / 8 - 1)), "n-bit takes 36 bytes, but 35");
  expect_refused(file(summed, H5T_STD_I32LE, cut(3)), "too few for a checksum");
  expect_refused(file(summed, H5T_STD_I32LE, cut(40)), "its checksum does not hold");
}

TEST_F(ChunkReader, RefusesChunksWhoseChecksumDoesNotHold) {
  for (const std::size_t bit : {0u, 77u, 96u * 8u})  // bits of a value, and of the checksum
    expect_refused(file(summed, H5T_STD_I32LE,
                        [bit](Bytes bytes) {
                          bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
                          return bytes;
                        }),
                   "its checksum does not hold");
}

TEST_F(ChunkReader, ReadsChunksAtTheEndThatPassNoFilters) {
  const SetFilters set = [](hid_t creation) {
    const hsize_t chunk[] = {chunk_rows, 5};  // the dataset ends within the last ones
    check_hdf5(H5Pset_chunk(creation, 2, chunk));
    deflated(creation);
    check_hdf5(H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
  };
  EXPECT_EQ(failure(file(set, H5T_STD_I32BE)), "");
}

TEST_F(ChunkReader, GivesPointsThatWereNeverWrittenTheFillValue) {
  const auto path = file(
      [](hid_t creation) {
        const int fill = 7;
        check_hdf5(H5Pset_fill_value(creation, H5T_NATIVE_INT, &fill));
        deflated(creation);
      },
      H5T_STD_I16BE);
  {
    const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose),
        dataset(H5Dopen2(file, "u", H5P_DEFAULT), H5Dclose);
    const hsize_t one_chunk[] = {chunk_rows, columns}, again[] = {rows, columns};
    check_hdf5(H5Dset_extent(dataset, one_chunk));  // removes the second chunk
    check_hdf5(H5Dset_extent(dataset, again));
  }
  Domain domain;
  domain.dimensions = 2;
  domain.shape = {1, rows, columns};
  read_boxes(Communicator(), path, "u", domain, domain.box(),
             [&](const Index3& begin, std::span<const double> values) {
               for (std::size_t i = 0; i < values.size(); ++i)
                 EXPECT_EQ(values[i], begin[1] >= static_cast<std::int64_t>(chunk_rows)
                                          ? 7
                                          : value_at(begin[1], begin[2] + static_cast<std::int64_t>(i)));
             });
}

TEST_F(ChunkReader, LooksBelowCompression) {
  expect_refused(file(deflated, H5T_STD_I32LE, [](const Bytes&) { return deflate(Bytes(95)); }),
                 "has 95 bytes, wanted 96");
  expect_refused(file(deflated, H5T_STD_I32LE, [](const Bytes&) { return deflate(Bytes(97)); }),
                 "has 97 bytes, wanted 96");
  expect_refused(file(deflated, H5T_STD_I32LE, [](const Bytes&) { return Bytes(50, 7); }),
                 "cannot be inflated");
  // Four bytes of shuffled 4-byte elements lie far from each other: the number of bits is among them.
  expect_refused(file(deflated_scale_offset, H5T_STD_I32LE,
                      [](const Bytes& stored) {
                        Bytes bytes(1000);
                        uLongf length = bytes.size();
                        EXPECT_EQ(uncompress(bytes.data(), &length, stored.data(), stored.size()), Z_OK);
                        bytes.resize(length);
                        bytes[0] = 77;
                        return deflate(bytes);
                      }),
                 "scale-offset takes 77 bits for each value, which has 32");
}

TEST_F(ChunkReader, UndoesFiltersOfPlugins) {
  for (const SetFilters& set : {SetFilters(inverted), SetFilters(deflated_inverted),
                                SetFilters(inverted_deflated), SetFilters(inverted_scale_offset)})
    EXPECT_EQ(failure(file(set, H5T_STD_I32BE)), "");
  const Change zero = [](Bytes bytes) {
    bytes[0] = 0;
    return bytes;
  };
  expect_refused(file(inverted, H5T_STD_I32LE, zero), "filter 300 cannot decode it");
  expect_refused(file(deflated_inverted, H5T_STD_I32LE, [](const Bytes&) { return Bytes(50, 7); }),
                 "cannot be inflated");
  expect_refused(file(inverted_scale_offset, H5T_STD_I32LE,
                      [](Bytes bytes) {
                        bytes[0] = static_cast<std::uint8_t>(~33);
                        return bytes;
                      }),
                 "scale-offset takes 33 bits for each value, which has 32");
}

TEST_F(ChunkReader, ReadsStoredBytesOnce) {
  for (const SetFilters& set : {SetFilters(inverted), SetFilters(inverted_deflated), SetFilters(summed)}) {
    const std::string path = directory_ / "large.h5";
    std::mt19937 random;
    std::vector<int> values(1 << 18);
    std::ranges::generate(values, [&] { return static_cast<int>(random() >> 1); });
    const hsize_t stored = write_line(path, values, 1 << 15, set);
    const Domain domain = line_of(values);
    const std::int64_t before = bytes_read();
    read_boxes(Communicator(), path, "u", domain, domain.box(),
               [](const Index3&, std::span<const double>) {});
    EXPECT_LT(bytes_read() - before, static_cast<std::int64_t>(stored) * 3 / 2);
  }
}

TEST_F(ChunkReader, RefusesLengthsAndTypesOfTheOldFormatThatHdf5Trusts) {
  // Changes byte `i` of the only place where the file holds `bytes`.
  const auto expect_damage = [&](const std::string& bytes, std::size_t i, char changed) {
    const auto path = file([](hid_t) {}, H5T_STD_I32LE);
    ASSERT_EQ(failure(path), "");
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(stream), {}};
    const auto at = all.find(bytes);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(all.find(bytes, at + 1), std::string::npos);
    stream.clear();
    stream.seekp(static_cast<std::streamoff>(at + i)).put(changed);
    stream.close();
    const std::string message = failure(path);
    EXPECT_NE(message.find("is a damaged HDF5 file"), std::string::npos) << message;
  };
  // The second chunk: 96 bytes, no filter is left out, and it begins in row 3.
  expect_damage({96, 0, 0, 0, 0, 0, 0, 0, chunk_rows, 0, 0, 0, 0, 0, 0, 0}, 0, 8);
  // The type: an integer with a sign, 4 bytes, of which bits 0 to 31 are used.
  expect_damage({0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}, 10, 40);
}

TEST_F(ChunkReader, LooksIntoSourcesOfVirtualDatasets) {
  for (const bool damaged : {false, true}) {
    const auto source = file(
        scale_offset, H5T_STD_I32LE, !damaged ? Change() : [](Bytes bytes) {
          bytes[0] = 33;
          return bytes;
        });
    const auto path = directory_ / "virtual.h5";
    {
      // The file has the old format without checksums, which is tried in a process of its own.
      const hsize_t shape[] = {rows, columns};
      const Hdf5Id output(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
      const Hdf5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose),
          creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      check_hdf5(H5Pset_virtual(creation, space, source.c_str(), "u", space));
      H5Dclose(H5Dcreate2(output, "u", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    }
    const std::string message = failure(path);
    if (damaged)
      EXPECT_NE(message.find("its source /u cannot be read: the chunk at [3, 0] is damaged"),
                std::string::npos)
          << message;
    else
      EXPECT_EQ(message, "");
  }
}

}  // namespace
}  // namespace spsolve::testing
