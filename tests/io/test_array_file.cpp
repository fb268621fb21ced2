// SPDX-License-Identifier: Apache-2.0
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <semaphore>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "io/array_file.hpp"
#include "io/field_rows.hpp"
#include "io/stored_array.hpp"
#include "tests/io/sample_array.hpp"
#include "tests/support/failing_rank.hpp"

namespace spsolve::testing {
namespace {

const ArrayFormat several_blocks{
    3, {61, 127, 283}, Precision::fp64};  // 17.5 MB: five blocks, the last not full

void write_sample(const Communicator& world, const std::filesystem::path& file, const ArrayFormat& format,
                  const Box& box) {
  write_arrays(world, file, format, {{"step", std::int64_t{7}}, {"name", std::string("größe")}}, box,
               {{"u", sample_rows(format.precision)}});
}

/// Lists three arrays whose values differ by a factor.
const std::vector<std::pair<std::string, double>> three_fields{{"p", 1.0}, {"p.previous", -1.0}, {"q", 2.0}};

void write_three(const Communicator& world, const std::filesystem::path& file, const ArrayFormat& format,
                 const Box& box) {
  std::vector<NamedRows> arrays;
  for (const auto& [name, factor] : three_fields)
    arrays.push_back({name, sample_rows(format.precision, factor)});
  write_arrays(world, file, format, {{"step", std::int64_t{7}}}, box, arrays);
}

Box own_part(const Communicator& world, const Index3& shape) {
  return part_of(shape, {world.size(), 1, 1}, world.rank());
}

TEST(ArrayFile, BytesDoNotDependOnTheDecomposition) {
  const Communicator world, alone(MPI_COMM_SELF);
  const SharedDirectory directory(world);
  const std::vector<ArrayFormat> formats{several_blocks,
                                         {3, {3, 5, 2}, Precision::fp32},
                                         {3, {1, 1, 1}, Precision::fp64},
                                         {2, {1, 1031, 2053}, Precision::bf16},
                                         {1, {1, 1, 5'000'011}, Precision::fp16},
                                         {3, {600'011, 1, 2}, Precision::fp64}};
  for (const ArrayFormat& format : formats) {
    for (const auto& write : {write_sample, write_three}) {
      if (world.root()) write(alone, directory / "alone", format, box_of(format.shape));
      const std::string expected = world.root() ? bytes_of(directory / "alone") : std::string();
      for (const Box& box : decompositions(format.shape, world.rank(), world.size())) {
        write(world, directory / "together", format, box);
        const bool same = !world.root() || bytes_of(directory / "together") == expected;
        ASSERT_TRUE(same) << volume(format.shape) << " points";
      }
    }
  }
}

/// Returns a field that holds the sample values of a box.
Field sample_field(const Box& box, Precision precision) {
  Field field(box, {0, 0, 0}, precision);
  const RowSource row = sample_rows(precision);
  for (std::int64_t i = 0; i < row_count(box); ++i)
    row(row_begin(box, i), box.extent()[x_axis], field.bytes_at(row_begin(box, i)));
  return field;
}

/// Brings elements of a field to memory of its own, which the next call overwrites, as a window onto a device
/// does.
class OwnMemory {
 public:
  explicit OwnMemory(const Field& values) : values_(&values) {}
  const std::byte* operator()(const Index3& begin, std::int64_t elements) {
    std::ranges::fill(memory_, std::byte{0xff});
    const std::byte* const from = values_->bytes_at(begin);
    memory_.assign(from, from + elements * static_cast<std::int64_t>(storage_bytes(values_->precision())));
    return memory_.data();
  }

 private:
  const Field* values_;
  std::vector<std::byte> memory_;
};

TEST(ArrayFile, ValuesThatAreStoredAreWrittenFromWhereTheyLieOrArrive) {
  const Communicator world, alone(MPI_COMM_SELF);
  const SharedDirectory directory(world);
  int files = 0;
  // Rows of 283 points are padded in memory, those of 256 points are padded because they are whole KiB, and
  // those of 8 points are not. Rows of 5 points are padded, and too short to be written one by one.
  for (const Index3& shape :
       {several_blocks.shape, Index3{64, 128, 256}, Index3{600'000, 1, 8}, Index3{2000, 61, 5}})
    for (const Compression compression : {Compression::none, Compression::deflate}) {
      const ArrayFormat format{3, shape, Precision::fp64, compression};
      if (world.root()) write_sample(alone, directory / "rows", format, box_of(shape));
      const std::string expected = world.root() ? bytes_of(directory / "rows") : std::string();
      for (const Box& box : decompositions(shape, world.rank(), world.size())) {
        const Field field = sample_field(box, format.precision), empty(box, {0, 0, 0}, format.precision);
        const bool arrives = files++ / 2 % 2 == 1;  // so both compressions see both kinds
        const ReadableField values = arrives ? ReadableField(empty, OwnMemory(field)) : field;
        std::atomic<std::int64_t> copied = 0, seen = 0;
        NamedRows array = named_rows("u", values, format.precision);
        array.inspect = [&](std::span<const std::byte> piece) { seen += std::ssize(piece); };
        array.row = [&copied, row = array.row](const Index3& begin, std::int64_t points, std::byte* out) {
          copied += points;
          row(begin, points, out);
        };
        write_arrays(world, directory / "stored", format,
                     {{"step", std::int64_t{7}}, {"name", std::string("größe")}}, box, {array}, {}, nullptr,
                     {.threads = 2});
        EXPECT_EQ(world.all_reduce(seen.load(), MPI_SUM), volume(shape) * format.element_bytes());
        if (world.size() == 1) {
          EXPECT_EQ(copied, shape[x_axis] == 5 ? volume(shape) : 0);
        }
        const bool same = !world.root() || bytes_of(directory / "stored") == expected;
        ASSERT_TRUE(same) << shape[0] << " x " << shape[1] << " x " << shape[2];
      }
    }
}

/// Returns how many threads at a time compress a file that shares a rank of four threads with 15 others,
/// which do nothing. Each thread waits until there are `expected` of them, or for some seconds.
int threads_that_compress(const std::filesystem::path& file, std::counting_semaphore<>& workers,
                          int expected) {
  const Communicator alone(MPI_COMM_SELF);
  const ArrayFormat format{
      3, {8, 300, 300}, Precision::fp64, Compression::deflate};  // a chunk for each plane
  std::mutex mutex;
  std::condition_variable changed;
  int at_work = 0, most = 0;
  const auto row = [&](const Index3& begin, std::int64_t points, std::byte* out) {
    sample_rows(format.precision)(begin, points, out);
    std::unique_lock lock(mutex);
    if (begin[y_axis] == 0) {
      most = std::max(most, ++at_work);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(5), [&] { return most >= expected; });
    }
    if (begin[y_axis] == format.shape[y_axis] - 1) --at_work;
  };
  write_arrays(alone, file, format, {}, box_of(format.shape), {{"u", row}}, {}, nullptr,
               {.files = 16, .threads = 4, .workers = &workers});
  return most;
}

TEST(ArrayFile, OneOfSeveralFilesIsCompressedByAllThreadsThatAreFree) {
  const Communicator world;
  const SharedDirectory directory(world);
  if (!world.root()) return;
  std::counting_semaphore<> workers(4);
  EXPECT_EQ(threads_that_compress(directory / "all", workers, 4), 4);
  workers.acquire();  // as chunks of other files do
  workers.acquire();
  workers.acquire();
  EXPECT_EQ(threads_that_compress(directory / "one", workers, 1), 1);
  EXPECT_EQ(bytes_of(directory / "all"), bytes_of(directory / "one"));
}

TEST(ArrayFile, BytesDoNotDependOnTheTime) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Box box = own_part(world, {3, 5, 2});
  write_sample(world, directory / "first", {3, {3, 5, 2}, Precision::fp32}, box);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times in HDF5 files count seconds
  write_sample(world, directory / "second", {3, {3, 5, 2}, Precision::fp32}, box);
  EXPECT_TRUE(bytes_of(directory / "first") == bytes_of(directory / "second"));
}

TEST(ArrayFile, EveryRankReadsItsBoxBack) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const Precision precision : all_precisions) {
    const ArrayFormat format{3, {37, 41, 113}, precision};
    write_sample(world, directory / "array", format, own_part(world, format.shape));
    const StoredArray stored = locate_array(directory / "array");
    EXPECT_EQ(stored.format.shape, format.shape);
    EXPECT_EQ(stored.format.precision, precision == Precision::tf32 ? Precision::fp32 : precision);
    verify_array(world, stored);
    const Box box = part_of(format.shape, {1, 1, world.size()}, world.rank());
    std::int64_t points_read = 0;
    read_array(stored, box, [&](const Index3& begin, std::int64_t points, const std::byte* values) {
      ASSERT_TRUE(contains(box, Box{begin, begin + Index3{1, 1, points}}));
      points_read += points;
      with_storage(stored.format.precision, [&]<class Storage>() {
        for (std::int64_t i = 0; i < points; ++i)
          ASSERT_EQ(stored_value(reinterpret_cast<const Storage*>(values)[i]),
                    sample_value(begin + Index3{0, 0, i}));
      });
    });
    EXPECT_EQ(points_read, box.points());
    world.barrier();
  }
}

TEST(ArrayFile, AnyFlippedBitOfTheValuesIsFound) {
  const Communicator world;
  const SharedDirectory directory(world);
  write_sample(world, directory / "array", several_blocks, own_part(world, several_blocks.shape));
  const StoredArray stored = locate_array(directory / "array");
  const std::int64_t bytes = volume(several_blocks.shape) * 8;
  std::uint64_t random = 20240607;  // the same on every rank
  for (int trial = 0; trial < 24; ++trial) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::int64_t at = trial == 0   ? 0
                            : trial == 1 ? bytes - 1
                                         : static_cast<std::int64_t>((random >> 20) % bytes);
    const auto flip = [&] {
      world.barrier();
      if (world.root()) flip_bit(directory / "array", stored.offset + at, trial % 8);
      world.barrier();
    };
    flip();
    const std::string message = error_of([&] { verify_array(world, stored); });
    const std::int64_t block = at / stored.checksum_block_bytes;
    EXPECT_THAT(message, HasSubstr((directory / "array").string() + ":/u: bytes [" +
                                   std::to_string(block * stored.checksum_block_bytes)))
        << "byte " << at << ": " << message;
    flip();
  }
  verify_array(world, stored);
}

TEST(ArrayFile, HoldsSeveralArraysOneAfterTheOther) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const ArrayFormat& format : {several_blocks, ArrayFormat{2, {1, 7, 5}, Precision::fp16}}) {
    write_three(world, directory / "arrays", format, own_part(world, format.shape));
    const std::int64_t bytes = volume(format.shape) * format.element_bytes();
    std::int64_t end = 0;  // end of the values of the array before
    for (const auto& [name, factor] : three_fields) {
      const StoredArray stored = locate_array(directory / "arrays", name);
      EXPECT_GE(stored.offset, end);
      end = stored.offset + bytes;
      verify_array(world, stored);
      std::int64_t points_read = 0;
      const Box box = part_of(format.shape, {1, 1, world.size()}, world.rank());
      read_array(stored, box, [&](const Index3& begin, std::int64_t points, const std::byte* values) {
        points_read += points;
        with_storage(format.precision, [&]<class Storage>() {
          for (std::int64_t i = 0; i < points; ++i)
            ASSERT_EQ(stored_value(reinterpret_cast<const Storage*>(values)[i]),
                      factor * sample_value(begin + Index3{0, 0, i}))
                << name;
        });
      });
      EXPECT_EQ(points_read, box.points());
    }
    EXPECT_THAT(error_of([&] { locate_array(directory / "arrays", "u"); }), HasSubstr("arrays:/u: HDF5"));
    world.barrier();
  }
}

TEST(ArrayFile, FlippedBitIsFoundInItsArrayOnly) {
  const Communicator world;
  const SharedDirectory directory(world);
  write_three(world, directory / "arrays", several_blocks, own_part(world, several_blocks.shape));
  const std::int64_t bytes = volume(several_blocks.shape) * 8;
  for (const auto& [damaged, of_damaged] : three_fields)
    for (const std::int64_t at : {std::int64_t{0}, bytes / 2, bytes - 1}) {
      const StoredArray stored = locate_array(directory / "arrays", damaged);
      world.barrier();
      if (world.root()) flip_bit(stored.file, stored.offset + at, 3);
      world.barrier();
      for (const auto& [name, factor] : three_fields) {
        const std::string message =
            error_of([&] { verify_array(world, locate_array(directory / "arrays", name)); });
        if (name == damaged)
          EXPECT_THAT(message, HasSubstr("arrays:/" + name + ": bytes [")) << at;
        else
          EXPECT_EQ(message, "");
      }
      world.barrier();
      if (world.root()) flip_bit(stored.file, stored.offset + at, 3);
      world.barrier();
    }
}

TEST(ArrayFile, DirectoryWithoutPermissionIsAnErrorOnEveryRank) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto locked = directory / "locked";
  if (world.root()) {
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
    std::filesystem::create_directory(locked);
    std::filesystem::permissions(locked, std::filesystem::perms(0555));
  }
  world.barrier();
  const uid_t user = geteuid();
  if (user == 0) {  // root may write to closed files
    ASSERT_EQ(seteuid(65534), 0);
  }
  Status status{};
  const std::string message = error_of(
      [&] { write_sample(world, locked / "array", several_blocks, own_part(world, several_blocks.shape)); },
      &status);
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_EQ(status, Status::file_failure);
  EXPECT_THAT(message, HasSubstr("array.tmp"));
  EXPECT_THAT(message, HasSubstr("Permission denied"));
}

TEST(ArrayFile, MissingDirectoryIsAnErrorOnEveryRank) {
  const Communicator world;
  const SharedDirectory directory(world);
  const std::string message = error_of([&] {
    write_sample(world, directory / "none" / "array", several_blocks, own_part(world, several_blocks.shape));
  });
  EXPECT_THAT(message, HasSubstr("there is no directory"));
}

/// Expects that the former file remains and no other file does.
void expect_only(const Communicator& world, const std::filesystem::path& directory,
                 const std::string& old_bytes) {
  world.barrier();
  EXPECT_TRUE(bytes_of(directory / "array") == old_bytes);
  EXPECT_FALSE(std::filesystem::exists(directory / "array.tmp"));
  world.barrier();
}

TEST(ArrayFile, FailedWriteOfOneRankIsAgreedAndTheOldFileStays) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Box box = own_part(world, several_blocks.shape);
  write_sample(world, directory / "array", several_blocks, box);
  const std::string old_bytes = bytes_of(directory / "array");
  // The last rank, which has the last blocks, may write no further than the first of them.
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit old_limit = limit;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  if (world.rank() == world.size() - 1) limit.rlim_cur = 4 << 20;
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status{};
  const std::string message =
      error_of([&] { write_sample(world, directory / "array", several_blocks, box); }, &status);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status, Status::file_failure);
  EXPECT_THAT(message, HasSubstr("array.tmp"));
  expect_only(world, directory.path(), old_bytes);
}

TEST(ArrayFile, FailureToGiveValuesIsAgreedAndTheOldFileStays) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Box box = own_part(world, several_blocks.shape);
  write_sample(world, directory / "array", several_blocks, box);
  const std::string old_bytes = bytes_of(directory / "array");
  const RowSource broken = [&](const Index3&, std::int64_t, std::byte*) {
    if (world.rank() == world.size() / 2) throw Error(Status::device_failure, "device lost");
  };
  const NamedRows good{"u", sample_rows(Precision::fp64)};
  for (const auto& arrays : {std::vector<NamedRows>{{"u", broken}}, {good, {"v", broken}}}) {
    Status status{};
    EXPECT_EQ(
        error_of([&] { write_arrays(world, directory / "array", several_blocks, {}, box, arrays); }, &status),
        "device lost" + found_by(world.size() / 2));
    EXPECT_EQ(status, Status::device_failure);
    expect_only(world, directory.path(), old_bytes);
  }
}

TEST(ArrayFile, LackOfMemoryOrThreadsOnOneRankIsAgreed) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Box box = own_part(world, several_blocks.shape);
  const auto message_of = [&](const auto& failure) {
    const RowSource broken = [&](const Index3&, std::int64_t, std::byte*) {
      if (world.rank() == world.size() / 2) throw failure;
    };
    Status status{};
    std::string message = error_of(
        [&] {
          write_arrays(world, directory / "array", several_blocks, {}, box, {{"u", broken}});
        },
        &status);
    EXPECT_EQ(status, Status::file_failure);
    return message;
  };
  EXPECT_THAT(message_of(std::bad_alloc()), HasSubstr("there is no memory left"));
  EXPECT_THAT(message_of(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
              HasSubstr("cannot write the values"));
}

/// Is a small file system, mounted by rank 0.
class SmallDisk {
 public:
  SmallDisk(const Communicator& world, const std::filesystem::path& directory, std::int64_t bytes)
      : world_(world), directory_(directory) {
    std::string error;
    if (world_.root()) {
      std::filesystem::create_directory(directory_);
      const std::string options = "size=" + std::to_string(bytes);
      if (mount("tmpfs", directory_.c_str(), "tmpfs", 0, options.c_str()) != 0) error = std::strerror(errno);
    }
    error_ = world_.broadcast(error);
  }
  ~SmallDisk() {
    world_.barrier();
    if (world_.root() && error_.empty()) umount2(directory_.c_str(), MNT_DETACH);
  }
  /// Returns why it could not be mounted, or "" if it was.
  const std::string& error() const { return error_; }

 private:
  Communicator world_;
  std::filesystem::path directory_;
  std::string error_;
};

TEST(ArrayFile, FullDiskIsAnErrorAndTheOldFileStays) {
  const Communicator world;
  const SharedDirectory directory(world);
  const std::int64_t bytes = volume(several_blocks.shape) * 8;
  for (const std::int64_t left : {bytes / 2, std::int64_t{300'000}, std::int64_t{0}}) {
    const SmallDisk disk(world, directory / "disk", bytes + (512 << 10) + left);
    if (!disk.error().empty()) GTEST_SKIP() << "cannot mount a small file system: " << disk.error();
    const Box box = own_part(world, several_blocks.shape);
    write_sample(world, directory / "disk" / "array", several_blocks, box);
    const std::string old_bytes = bytes_of(directory / "disk" / "array");
    if (left == 0 && world.root()) {  // not even the layout fits
      std::ofstream filler(directory / "disk" / "filler", std::ios::binary);
      while (filler << 'x' << std::flush) continue;
    }
    world.barrier();
    Status status{};
    const std::string message =
        error_of([&] { write_sample(world, directory / "disk" / "array", several_blocks, box); }, &status);
    EXPECT_EQ(status, Status::file_failure) << left << " bytes left";
    EXPECT_THAT(message, HasSubstr("No space left on device"));
    expect_only(world, directory / "disk", old_bytes);
    verify_array(world, locate_array(directory / "disk" / "array"));
  }
}

TEST(ArrayFile, DiskWithRoomForOneOfTwoArraysIsFoundFull) {
  const Communicator world;
  const SharedDirectory directory(world);
  const std::int64_t bytes = volume(several_blocks.shape) * 8;
  const std::int64_t headers = 1 << 20;
  const SmallDisk disk(world, directory / "disk", 2 * (bytes + headers) + bytes / 2);
  if (!disk.error().empty()) GTEST_SKIP() << "cannot mount a small file system: " << disk.error();
  const Box box = own_part(world, several_blocks.shape);
  write_sample(world, directory / "disk" / "array", several_blocks, box);
  const std::string old_bytes = bytes_of(directory / "disk" / "array");
  std::int64_t rows = 0;
  const RowSource counting = [&](const Index3&, std::int64_t, std::byte*) { ++rows; };
  Status status{};
  const std::string message = error_of(
      [&] {
        write_arrays(world, directory / "disk" / "array", several_blocks, {}, box,
                     {{"u", counting}, {"v", counting}});
      },
      &status);
  EXPECT_EQ(status, Status::file_failure);
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_EQ(rows, 0) << "the disk was found full only after values were written";
  expect_only(world, directory / "disk", old_bytes);
}

TEST(ArrayFile, DiskWithRoomForTwoArraysTakesThem) {
  const Communicator world;
  const SharedDirectory directory(world);
  const std::int64_t bytes = volume(several_blocks.shape) * 8;
  const std::int64_t headers = 1 << 20;
  const SmallDisk disk(world, directory / "disk", 2 * bytes + headers);
  if (!disk.error().empty()) GTEST_SKIP() << "cannot mount a small file system: " << disk.error();
  write_arrays(world, directory / "disk" / "array", several_blocks, {}, own_part(world, several_blocks.shape),
               {{"u", sample_rows(Precision::fp64)}, {"v", sample_rows(Precision::fp64, -1.0)}});
  for (const char* const name : {"u", "v"}) {
    verify_array(world, locate_array(directory / "disk" / "array", name));
  }
}

}  // namespace
}  // namespace spsolve::testing
