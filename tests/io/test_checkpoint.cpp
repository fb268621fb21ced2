// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>
#include <stdexcept>

#include "io/checkpoint.hpp"
#include "io/field_rows.hpp"
#include "io/file_info.hpp"
#include "io/hdf5/hdf5.hpp"
#include "tests/io/sample_array.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {
namespace {

constexpr Index3 shape{11, 13, 17};

Box own_part(const Communicator& world) { return part_of(shape, {1, world.size(), 1}, world.rank()); }

CheckpointHeader header_of(std::int64_t step, Precision precision = Precision::fp64) {
  return {step,
          0.1 * static_cast<double>(step),
          precision,
          "name = \"größe\"\n[grid]\nshape = [11, 13, 17]\n",
          "{}",
          "0123456789abcdef",
          {default_field},
          {{"initial", "0000000000000001"}, {"source", "0000000000000002"}}};
}

std::filesystem::path write_sample(const Communicator& world, const std::filesystem::path& directory,
                                   std::int64_t step, Precision precision = Precision::fp64) {
  return write_checkpoint(world, directory, header_of(step, precision), 3, shape, own_part(world),
                          {{"u", sample_rows(precision)}});
}

/// Lists the arrays of a checkpoint of two fields, one of them with previous values, with the factors of
/// their values.
const std::vector<std::pair<std::string, double>> two_fields{{"v", 1.0}, {"p", -1.0}, {"p.previous", 2.0}};

std::filesystem::path write_two_fields(const Communicator& world, const std::filesystem::path& directory,
                                       std::int64_t step, Precision precision = Precision::fp64) {
  CheckpointHeader header = header_of(step, precision);
  header.fields = {"v", "p"};
  std::vector<NamedRows> arrays;
  for (const auto& [name, factor] : two_fields) arrays.push_back({name, sample_rows(precision, factor)});
  return write_checkpoint(world, directory, header, 3, shape, own_part(world), arrays);
}

/// Changes the bytes of a file on rank 0.
template <class Change>
void damage(const Communicator& world, const std::filesystem::path& file, Change&& change) {
  world.barrier();
  if (world.root()) {
    std::string bytes = bytes_of(file);
    change(bytes);
    put_bytes(file, bytes);
  }
  world.barrier();
}

TEST(Checkpoint, GivesBackEverythingInEveryPrecision) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const Precision precision : all_precisions) {
    const auto file = write_sample(world, directory.path(), 42, precision);
    EXPECT_EQ(file.filename(), "checkpoint_0000000042.h5");
    const Checkpoint checkpoint = verified_checkpoint(world, file);
    EXPECT_EQ(checkpoint.header.step, 42);
    EXPECT_EQ(checkpoint.header.time, header_of(42).time);
    EXPECT_EQ(checkpoint.header.precision, precision);
    EXPECT_EQ(checkpoint.header.input, header_of(42).input);
    EXPECT_EQ(checkpoint.header.plan, "{}");
    EXPECT_EQ(checkpoint.header.weights, header_of(42).weights);
    EXPECT_EQ(checkpoint.header.values, header_of(42).values);
    // The decomposition differs from that of the writer.
    Field field(part_of(shape, {world.size(), 1, 1}, world.rank()), {1, 2, 3}, precision);
    read_checkpoint(world, checkpoint, "u", shape, field);
    for_each_point(field.owned(), [&](const Index3& p) { ASSERT_EQ(value_at(field, p), sample_value(p)); });
  }
}

TEST(Checkpoint, GivesBackAllFieldsAndPreviousValues) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const Precision precision : all_precisions) {
    const auto file = write_two_fields(world, directory.path(), 42, precision);
    const Checkpoint checkpoint = verified_checkpoint(world, file);
    EXPECT_EQ(checkpoint.file, file);
    EXPECT_EQ(checkpoint.header.step, 42);
    EXPECT_EQ(checkpoint.header.precision, precision);
    EXPECT_EQ(checkpoint.header.weights, header_of(42).weights);
    EXPECT_EQ(checkpoint.header.fields, (std::vector<std::string>{"v", "p"}));
    ASSERT_EQ(checkpoint.arrays.size(), two_fields.size());
    for (const auto& [name, factor] : two_fields) {
      Field field(part_of(shape, {world.size(), 1, 1}, world.rank()), {1, 2, 3}, precision);
      read_checkpoint(world, checkpoint, name, shape, field);
      for_each_point(field.owned(), [&, factor = factor](const Index3& p) {
        ASSERT_EQ(value_at(field, p), factor * sample_value(p));
      });
    }
    Field field(own_part(world), {0, 0, 0}, precision);
    for (const char* const missing : {"u", "v.previous"}) {
      Status status{};
      EXPECT_THAT(error_of([&] { read_checkpoint(world, checkpoint, missing, shape, field); }, &status),
                  HasSubstr(std::string("has no array /") + missing + "; its fields are v, p"));
      EXPECT_EQ(status, Status::invalid_input);
    }
  }
}

TEST(Checkpoint, OneFieldUKeepsTheFirstFormatVersion) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto version_of = [](const std::filesystem::path& file) {
    const Hdf5Id input = open_hdf5(file);
    return std::pair(read_attribute<std::int64_t>(input, "format_version"), has_attribute(input, "fields"));
  };
  const auto write = [&](std::int64_t step, const std::vector<std::string>& fields,
                         const std::vector<std::string>& arrays) {
    CheckpointHeader header = header_of(step);
    header.fields = fields;
    std::vector<NamedRows> rows;
    for (const std::string& name : arrays) rows.push_back({name, sample_rows(Precision::fp64)});
    return write_checkpoint(world, directory.path(), header, 3, shape, own_part(world), rows);
  };
  const auto plain = write(1, {"u"}, {"u"}), wave = write(2, {"u"}, {"u", "u.previous"}),
             named = write(3, {"p"}, {"p"});
  EXPECT_EQ(version_of(plain), std::pair(std::int64_t{1}, false));
  EXPECT_EQ(version_of(wave), std::pair(std::int64_t{2}, true));
  EXPECT_EQ(version_of(named), std::pair(std::int64_t{2}, true));
  EXPECT_EQ(open_checkpoint(plain).header.fields, std::vector<std::string>{"u"});
  EXPECT_EQ(open_checkpoint(wave).arrays.size(), 2u);
  EXPECT_EQ(open_checkpoint(named).header.fields, std::vector<std::string>{"p"});
  EXPECT_THROW(write(4, {"u", "v"}, {"v", "u"}), std::invalid_argument);
}

TEST(Checkpoint, NamesOfFieldsHaveAChecksum) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto file = write_two_fields(world, directory.path(), 5);
  world.barrier();
  if (world.root()) write_attribute(modify_hdf5(file), "fields", std::string("p v"));
  world.barrier();
  EXPECT_THAT(error_of([&] { verified_checkpoint(world, file); }), HasSubstr("attributes are damaged"));
}

TEST(Checkpoint, DamagedArrayIsNamed) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto file = write_two_fields(world, directory.path(), 5);
  const Checkpoint whole = verified_checkpoint(world, file);
  EXPECT_THAT(describe_file(world, file).text, HasSubstr("all 3 checksums hold"));
  for (const StoredArray& array : whole.arrays) {
    const auto flip = [&] {
      world.barrier();
      if (world.root()) flip_bit(file, array.offset + 100, 2);
      world.barrier();
    };
    flip();
    const std::string damage_of_array = file.string() + ":/" + array.name + ": bytes [0, ";
    EXPECT_THAT(error_of([&] { verified_checkpoint(world, file); }), HasSubstr(damage_of_array));
    const FileInfo info = describe_file(world, file);
    EXPECT_FALSE(info.valid);
    EXPECT_THAT(info.text, HasSubstr(damage_of_array));
    flip();
  }
}

TEST(Checkpoint, FieldOfAnyPrecisionIsWrittenBitForBit) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const Precision precision : all_precisions) {
    Field field(own_part(world), {2, 1, 3}, precision);
    const std::size_t row_bytes =
        static_cast<std::size_t>(field.owned().extent()[x_axis]) * storage_bytes(precision);
    std::mt19937 random(
        static_cast<unsigned>(world.rank()));  // any bits: NaN with payload, subnormal numbers, -0
    const Box& box = field.owned();
    for (std::int64_t row = 0; row < row_count(box); ++row)
      std::generate_n(field.bytes_at(row_begin(box, row)), row_bytes,
                      [&] { return static_cast<std::byte>(random()); });
    const auto file = write_checkpoint(world, directory.path(), header_of(1, precision), 3, shape,
                                       field.owned(), {{"u", rows_of(field, precision)}});
    Field restored(field.owned(), {0, 0, 0}, precision);
    read_checkpoint(world, verified_checkpoint(world, file), "u", shape, restored);
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Index3 begin = row_begin(box, row);
      ASSERT_EQ(std::memcmp(field.bytes_at(begin), restored.bytes_at(begin), row_bytes), 0);
    }
  }
}

TEST(Checkpoint, AnotherPrecisionIsRefused) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Checkpoint checkpoint =
      verified_checkpoint(world, write_sample(world, directory.path(), 3, Precision::fp16));
  Field field(own_part(world), {0, 0, 0}, Precision::fp32);
  Status status{};
  const std::string message =
      error_of([&] { read_checkpoint(world, checkpoint, "u", shape, field); }, &status);
  EXPECT_EQ(status, Status::invalid_input);
  EXPECT_THAT(message, HasSubstr(":/u holds fp16 values, wanted fp32"));
}

TEST(Checkpoint, AnotherShapeIsRefused) {
  const Communicator world;
  const SharedDirectory directory(world);
  const Checkpoint checkpoint = verified_checkpoint(world, write_sample(world, directory.path(), 3));
  Field field(own_part(world), {0, 0, 0}, Precision::fp64);
  const std::string message = error_of([&] { read_checkpoint(world, checkpoint, "u", {17, 13, 11}, field); });
  EXPECT_THAT(message, HasSubstr("has shape (11, 13, 17), wanted (17, 13, 11)"));
}

TEST(Checkpoint, LongInputIsKeptAndHasAChecksum) {
  const Communicator world;
  const SharedDirectory directory(world);
  CheckpointHeader header = header_of(5);
  header.input = "# " + std::string(300'000, 'x') + "\n";  // beyond the 64 KiB of HDF5's compact attributes
  const auto file = write_checkpoint(world, directory.path(), header, 3, shape, own_part(world),
                                     {{"u", sample_rows(Precision::fp64)}});
  EXPECT_TRUE(verified_checkpoint(world, file).header.input == header.input);
  damage(world, file, [](std::string& bytes) { bytes[bytes.find("xxxx") + 100'000] = 'y'; });
  EXPECT_THAT(error_of([&] { verified_checkpoint(world, file); }),
              HasSubstr("checkpoint_0000000005.h5: attributes are damaged"));
  const FileInfo info = describe_file(world, file);
  EXPECT_FALSE(info.valid);
  EXPECT_THAT(info.text, HasSubstr("attributes are damaged"));
}

TEST(FindLatestCheckpoint, PassesOverTheDamagedAndSaysWhy) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const std::int64_t step : {100, 200, 300, 400}) write_sample(world, directory.path(), step);
  damage(world, checkpoint_file(directory.path(), 400),
         [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  damage(world, checkpoint_file(directory.path(), 300),
         [](std::string& bytes) { bytes[bytes.size() - 4096] ^= 4; });
  if (world.root()) {
    put_bytes(directory / "checkpoint_0000000500.h5", "");
    put_bytes(directory / "checkpoint_0000000600.h5.tmp", "half");
    for (const std::string other : {"latest", "700", "99999999999999999999"})
      put_bytes(directory / ("checkpoint_" + other + ".h5"), "not ours");
  }
  world.barrier();
  const auto [checkpoint, skipped] = find_latest_checkpoint(world, directory.path());
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->header.step, 200);
  ASSERT_EQ(skipped.size(), 3u);
  EXPECT_THAT(skipped[0], HasSubstr("checkpoint_0000000500.h5: not an HDF5 file"));
  EXPECT_THAT(skipped[1], HasSubstr("checkpoint_0000000400.h5: damaged HDF5 file (truncated file"));
  EXPECT_THAT(skipped[2], HasSubstr("checkpoint_0000000300.h5"));
  EXPECT_THAT(skipped[2], HasSubstr("checksum"));
}

TEST(FindLatestCheckpoint, FindsNothingInAnEmptyOrMissingDirectory) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const auto& path : {directory.path(), directory / "none"}) {
    const auto latest = find_latest_checkpoint(world, path);
    EXPECT_FALSE(latest.checkpoint);
    EXPECT_TRUE(latest.skipped.empty());
  }
}

TEST(FindLatestCheckpoint, ComplainsOfWhatCannotBeListed) {
  const Communicator world;
  const SharedDirectory directory(world);
  if (world.root()) put_bytes(directory / "file", "no directory");
  world.barrier();
  Status status{};
  EXPECT_THAT(error_of([&] { find_latest_checkpoint(world, directory / "file"); }, &status),
              HasSubstr("cannot list"));
  EXPECT_EQ(status, Status::file_failure);
}

TEST(PruneCheckpoints, KeepsTheNewestUpToTheStep) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const std::int64_t step : {100, 200, 300, 400, 500}) write_sample(world, directory.path(), step);
  if (world.root()) {
    put_bytes(directory / "checkpoint_0000000350.h5.tmp", "left by a killed run");
    put_bytes(directory / "checkpoint_of_mine.h5.tmp", "not ours");
  }
  prune_checkpoints(world, directory.path(), 400, 2);
  EXPECT_FALSE(std::filesystem::exists(directory / "checkpoint_0000000350.h5.tmp"));
  EXPECT_TRUE(std::filesystem::exists(directory / "checkpoint_of_mine.h5.tmp"));
  for (const std::int64_t step : {100, 200, 300, 400, 500})
    EXPECT_EQ(std::filesystem::exists(checkpoint_file(directory.path(), step)), step >= 300) << step;
}

/// Flips bits anywhere in the file, including metadata. The checkpoint must be refused or give back exactly
/// the written values.
void expect_no_flipped_bit_unnoticed(const Communicator& world, const std::filesystem::path& file,
                                     const std::vector<std::pair<std::string, double>>& arrays) {
  const Checkpoint written = verified_checkpoint(world, file);
  const auto in_values = [&](std::int64_t at) {
    return std::ranges::any_of(written.arrays, [&](const StoredArray& array) {
      return at >= array.offset && at < array.offset + volume(shape) * 8;
    });
  };
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file));
  std::mt19937 random(7);
  int refused = 0, trials = 0;
  for (std::int64_t at = 0; at < size; at += 1 + static_cast<std::int64_t>(random() % 29)) {
    if (in_values(at) && random() % 50) continue;  // only a sample of the values
    const int bit = static_cast<int>(random() % 8);
    const auto flip = [&] {
      world.barrier();
      if (world.root()) flip_bit(file, at, bit);
      world.barrier();
    };
    flip();
    ++trials;
    try {
      const Checkpoint read = verified_checkpoint(world, file);
      ASSERT_TRUE(read.header.step == 7 && read.header.time == written.header.time &&
                  read.header.plan == "{}" && read.header.input == written.header.input &&
                  read.header.precision == Precision::fp64 && read.header.fields == written.header.fields &&
                  read.header.values == written.header.values && read.arrays.size() == arrays.size())
          << "byte " << at << ", bit " << bit;
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        ASSERT_TRUE(read.arrays[i].name == arrays[i].first && read.arrays[i].format.shape == shape &&
                    read.arrays[i].checksums == written.arrays[i].checksums)
            << "byte " << at << ", bit " << bit;
        Field field(own_part(world), {0, 0, 0}, Precision::fp64);
        read_checkpoint(world, read, arrays[i].first, shape, field);
        if (!field.owned().empty()) {
          ASSERT_EQ(*field.at<double>(field.owned().begin),
                    arrays[i].second * sample_value(field.owned().begin));
        }
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::file_failure) << error.what();
      ++refused;
    }
    flip();
  }
  EXPECT_GT(refused, trials / 4);  // the rest of the file is unused by HDF5
  verified_checkpoint(world, file);
}

TEST(Checkpoint, NoFlippedBitAnywhereGoesUnnoticed) {
  const Communicator world;
  const SharedDirectory directory(world);
  expect_no_flipped_bit_unnoticed(world, write_sample(world, directory.path(), 7), {{"u", 1.0}});
}

TEST(Checkpoint, NoFlippedBitOfSeveralFieldsGoesUnnoticed) {
  const Communicator world;
  const SharedDirectory directory(world);
  expect_no_flipped_bit_unnoticed(world, write_two_fields(world, directory.path(), 7), two_fields);
}

TEST(Checkpoint, FileOfAnotherKindOrVersionIsRefused) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto file = write_sample(world, directory.path(), 1);
  // Each one is found before those above it.
  const auto expect_refused = [&](const char* object, const std::string& attribute,
                                  const AttributeValue& value, const char* reason) {
    world.barrier();
    if (world.root()) {
      const Hdf5Id output = modify_hdf5(file);
      write_attribute(Hdf5Id(H5Oopen(output, object, H5P_DEFAULT), H5Oclose), attribute, value);
    }
    world.barrier();
    const std::string message = error_of([&] { open_checkpoint(file); });
    EXPECT_THAT(message, HasSubstr(reason));
  };
  expect_refused("/", "precision", std::string("fp16"), "has another type of values than it says");
  expect_refused("/u", checksum_attribute::block_bytes, std::int64_t{512}, "of another kind");
  expect_refused("/", "format_version", std::int64_t{3}, "has format version 3, this program reads 1 and 2");
  expect_refused("/", "format", std::string("a snapshot"), "of kind \"a snapshot\", not a checkpoint");
  world.barrier();
  if (world.root()) {
    Hdf5Id output = create_hdf5(file, 4096, 4096, 1);
    output.close();
  }
  world.barrier();
  EXPECT_THAT(error_of([&] { open_checkpoint(file); }), HasSubstr("is not a checkpoint of spsolve"));
}

}  // namespace
}  // namespace spsolve::testing
