// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "io/field_rows.hpp"
#include "io/file_info.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/snapshot.hpp"
#include "io/stored_array.hpp"
#include "io/text_file.hpp"
#include "kernels/sampling.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

using ::testing::Not;

Snapshot snapshot_of(int dimensions, const Index3& shape, std::int64_t step, std::int64_t stride = 1,
                     Precision precision = Precision::fp64) {
  Snapshot snapshot{.name = "sample",
                    .step = step,
                    .time = 0.5 * static_cast<double>(step),
                    .grid = {},
                    .stride = stride,
                    .precision = precision};
  snapshot.grid.domain.dimensions = dimensions;
  snapshot.grid.domain.shape = shape;
  snapshot.grid.spacing = {0.5, 0.25, 2.0};
  snapshot.grid.origin = {1.0, -2.0, 3.0};
  return snapshot;
}

nlohmann::json series_in(const std::filesystem::path& directory) {
  return nlohmann::json::parse(read_text(directory / "snapshots.hdf.series"));
}

TEST(Snapshot, StrideKeepsThePointsAtItsMultiples) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 shape{7, 11, 13};
  for (const std::int64_t stride : {1, 2, 3, 5, 20}) {
    const Snapshot snapshot = snapshot_of(3, shape, stride, stride, Precision::fp32);
    for (const Box& box : decompositions(shape, world.rank(), world.size())) {
      const Sampling sampling{stride, Precision::fp32};
      Field all(box, {0, 1, 2}, Precision::fp64), values(sampling.sampled(box), {0, 0, 0}, Precision::fp32);
      for_each_point(box, [&](const Index3& p) { *all.at<double>(p) = sample_value(p); });
      copy_sampled(all, {&values, stride});
      const auto file =
          write_snapshot(world, series, snapshot, values.owned(), {{"u", rows_of(values, Precision::fp32)}});
      const StoredArray stored = locate_array(file);
      const Index3 kept{(7 + stride - 1) / stride, (11 + stride - 1) / stride, (13 + stride - 1) / stride};
      ASSERT_EQ(stored.format.shape, kept);
      verify_array(world, stored);
      read_array(stored, box_of(kept), [&](const Index3& begin, std::int64_t points, const std::byte* row) {
        for (std::int64_t i = 0; i < points; ++i)
          ASSERT_EQ(reinterpret_cast<const float*>(row)[i], sample_value(stride * (begin + Index3{0, 0, i})));
      });
      world.barrier();
    }
  }
}

TEST(Snapshot, FieldIsRoundedOnceToThePrecisionOfTheFile) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 shape{1, 5, 9};
  Field field(part_of(shape, {1, world.size(), 1}, world.rank()), {0, 1, 1}, Precision::fp64);
  const auto value = [](const Index3& p) { return 1.0 / static_cast<double>(3 + 9 * p[1] + p[2]); };
  for (std::int64_t y = field.owned().begin[1]; y < field.owned().end[1]; ++y)
    for (std::int64_t x = 0; x < 9; ++x) *field.at<double>({0, y, x}) = value({0, y, x});
  const auto file = write_snapshot(world, series, snapshot_of(2, shape, 1, 1, Precision::fp32), field.owned(),
                                   {{"u", rows_of(field, Precision::fp32)}});
  read_array(locate_array(file), box_of(shape),
             [&](const Index3& begin, std::int64_t points, const std::byte* values) {
               for (std::int64_t i = 0; i < points; ++i)
                 ASSERT_EQ(reinterpret_cast<const float*>(values)[i],
                           static_cast<float>(value(begin + Index3{0, 0, i})));
             });
}

TEST(SnapshotSeries, HoldsEveryStepOnceAlsoAfterARestart) {
  const Communicator world;
  const SharedDirectory directory(world);
  const auto run = [&](const std::vector<std::int64_t>& steps) {
    SnapshotSeries series(directory.path());
    for (const std::int64_t step : steps)
      write_snapshot(world, series, snapshot_of(1, {1, 1, 17}, step),
                     part_of({1, 1, 17}, {1, 1, world.size()}, world.rank()),
                     {{"u", sample_rows(Precision::fp64)}});
  };
  const auto steps = [&] {
    std::vector<double> times;
    world.barrier();
    const auto series = series_in(directory.path());
    for (const auto& entry : series["files"]) times.push_back(entry["time"].get<double>() / 0.5);
    world.barrier();
    return times;
  };
  run({0, 100, 200, 300});
  EXPECT_EQ(steps(), (std::vector<double>{0, 100, 200, 300}));
  EXPECT_EQ(series_in(directory.path())["files"][1]["name"], "snapshot_0000000100.hdf");
  EXPECT_EQ(series_in(directory.path())["file-series-version"], "1.0");
  run({150});  // restarted from step 100 with another interval
  EXPECT_EQ(steps(), (std::vector<double>{0, 100, 150}));
  run({150, 150});
  EXPECT_EQ(steps(), (std::vector<double>{0, 100, 150}));
  if (world.root()) {
    std::filesystem::remove(snapshot_file(directory.path(), 100));
    put_bytes(directory / "snapshots.hdf.series.tmp", "left by a killed run");
  }
  run({200});
  EXPECT_EQ(steps(), (std::vector<double>{0, 150, 200}));
  // A series that is damaged, or incomplete after a loss of power, is made anew from the snapshots.
  if (world.root()) put_bytes(directory / "snapshots.hdf.series", "{\"files\": [3, {\"name\": 4}, ");
  run({300});
  EXPECT_EQ(steps(), (std::vector<double>{0, 150, 200, 300}));
  if (world.root()) {
    std::filesystem::remove(directory / "snapshots.hdf.series");
    put_bytes(snapshot_file(directory.path(), 150), "no snapshot");
  }
  run({200});
  EXPECT_EQ(steps(), (std::vector<double>{0, 200}));
}

TEST(SnapshotSeries, IsAppendedToWithTheBytesOfOneWrittenAtOnce) {
  const Communicator world;
  const SharedDirectory directory(world);
  if (!world.root()) return;
  const auto file = directory / "snapshots.hdf.series";
  SnapshotSeries series(directory.path());
  for (std::int64_t step = 0; step < 20; ++step) {
    put_bytes(snapshot_file(directory.path(), step), "");
    series.add(step, 0.1 * static_cast<double>(step));
    const std::string appended = bytes_of(file);
    EXPECT_EQ(appended, nlohmann::json::parse(appended).dump(1) + "\n") << step;
    EXPECT_EQ(series_in(directory.path())["files"].size(), static_cast<std::size_t>(step + 1));
  }
  put_bytes(file, "somebody else's");  // must not be appended to
  series.add(20, 2.0);
  EXPECT_EQ(series_in(directory.path())["files"].size(), 21u);
  series.unflushed().flush();
}

TEST(DescribeFile, TellsWhatAFileHoldsAndWhetherItIsSound) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 shape{3, 4, 5};
  const auto file = write_snapshot(world, series, snapshot_of(3, shape, 70),
                                   part_of(shape, {world.size(), 1, 1}, world.rank()),
                                   {{"u", sample_rows(Precision::fp64)}});
  const FileInfo info = describe_file(world, file);
  EXPECT_TRUE(info.valid);
  for (const char* part : {"spsolve snapshot", "step = 70", "time = 35", "name = sample",
                           "/u: shape (3, 4, 5), float64", "min -7.875", "all 1 checksums hold"})
    EXPECT_THAT(info.text, HasSubstr(part));
  world.barrier();
  if (world.root()) {
    std::string bytes = bytes_of(file);
    bytes[static_cast<std::size_t>(locate_array(file).offset) + 17] ^= 1;
    put_bytes(file, bytes);
  }
  world.barrier();
  const FileInfo damaged = describe_file(world, file);
  EXPECT_FALSE(damaged.valid);
  EXPECT_THAT(damaged.text, HasSubstr("does not hold"));
}

TEST(Snapshot, HoldsADatasetAndPointDataOfEachField) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 shape{3, 4, 5};
  const Box box = part_of(shape, {world.size(), 1, 1}, world.rank());
  const auto file =
      write_snapshot(world, series, snapshot_of(3, shape, 1), box,
                     {{"v", sample_rows(Precision::fp64)}, {"u", sample_rows(Precision::fp64, -1.0)}});
  if (!world.root()) return;
  const Hdf5Id input = open_hdf5(file);
  EXPECT_EQ(dataset_names(input), (std::vector<std::string>{"/VTKHDF/PointData/u", "/VTKHDF/PointData/v",
                                                            "/u", "/v", "/x", "/y", "/z"}));
  const Hdf5Id point_data(H5Gopen2(input, "/VTKHDF/PointData", H5P_DEFAULT), H5Gclose);
  EXPECT_EQ(read_attribute<std::string>(point_data, "Scalars"), "v");
  for (const std::string name : {"u", "v"}) {
    const Hdf5Id shown(H5Dopen2(point_data, name.c_str(), H5P_DEFAULT), H5Dclose);
    EXPECT_EQ(static_cast<std::int64_t>(H5Dget_offset(shown)), locate_array(file, name).offset);
  }
}

TEST(Snapshot, HoldsTheCoordinatesOfItsPoints) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 kept{1, 4, 3};
  Snapshot snapshot = snapshot_of(2, {1, 7, 5}, 1, 2);
  snapshot.axes = {z_axis, z_axis, x_axis};  // a plane of a 3D grid
  const auto file =
      write_snapshot(world, series, snapshot, part_of(kept, {1, world.size(), 1}, world.rank()),
                     {{"v", sample_rows(Precision::fp64)}, {"u", sample_rows(Precision::fp64)}});
  if (!world.root()) return;
  const Hdf5Id input = open_hdf5(file);
  EXPECT_EQ(dataset_names(input),
            (std::vector<std::string>{"/VTKHDF/PointData/u", "/VTKHDF/PointData/v", "/u", "/v", "/x", "/z"}));
  const auto coordinates = [&](const char* axis) {
    const Hdf5Id dataset(H5Dopen2(input, axis, H5P_DEFAULT), H5Dclose);
    const std::int64_t points = dataset_shape(dataset).front();
    std::vector<double> values(static_cast<std::size_t>(points));
    read_hyperslab(dataset, {{0, 0, 0}, {1, 1, points}}, H5T_NATIVE_DOUBLE, values.data());
    return values;
  };
  EXPECT_EQ(coordinates("z"), (std::vector<double>{-2.0, -1.5, -1.0, -0.5}));  // -2 + 0.25 * 2 * i
  EXPECT_EQ(coordinates("x"), (std::vector<double>{3.0, 7.0, 11.0}));          // 3 + 2 * 2 * i
}

TEST(DescribeFile, NamesTheDatasetThatIsDamaged) {
  const Communicator world;
  const SharedDirectory directory(world);
  SnapshotSeries series(directory.path());
  const Index3 shape{3, 4, 5};
  const auto file = write_snapshot(
      world, series, snapshot_of(3, shape, 1), part_of(shape, {world.size(), 1, 1}, world.rank()),
      {{"u", sample_rows(Precision::fp64)}, {"v", sample_rows(Precision::fp64, 2.0)}});
  const FileInfo whole = describe_file(world, file);
  EXPECT_TRUE(whole.valid);
  for (const char* part :
       {"dataset /u: shape (3, 4, 5)", "dataset /v: shape (3, 4, 5)", "min -15.75", "all 2 checksums hold"})
    EXPECT_THAT(whole.text, HasSubstr(part));
  for (const std::string name : {"u", "v"}) {
    const std::int64_t at = locate_array(file, name).offset + 17;
    world.barrier();
    if (world.root()) flip_bit(file, at, 0);
    world.barrier();
    const FileInfo damaged = describe_file(world, file);
    EXPECT_FALSE(damaged.valid);
    EXPECT_THAT(damaged.text,
                HasSubstr(file.string() + ":/" + name + ": bytes [0, 480) of its data are damaged"));
    EXPECT_THAT(damaged.text, Not(HasSubstr(file.string() + (name == "u" ? ":/v: " : ":/u: "))));
    EXPECT_THAT(damaged.text, Not(HasSubstr("checksums hold")));
    world.barrier();
    if (world.root()) flip_bit(file, at, 0);
    world.barrier();
  }
}

TEST(DescribeFile, TakesAnyHdf5FileAndNoOther) {
  const Communicator world;
  const SharedDirectory directory(world);
  if (world.root()) {
    Hdf5Id output = create_hdf5(directory / "other.h5", 65536, 4096, 1);
    const Hdf5Id group = create_group(output, "group");
    const hsize_t extents[4] = {1, 2, 1, 2};
    const Hdf5Id space(H5Screate_simple(4, extents, nullptr), H5Sclose);
    const Hdf5Id four(H5Dcreate2(group, "four", H5T_STD_I16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Id one(H5Dcreate2(output, "one", H5T_IEEE_F32LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose);
    put_bytes(directory / "text", "no HDF5");
  }
  world.barrier();
  const FileInfo info = describe_file(world, directory / "other.h5");
  EXPECT_TRUE(info.valid);
  for (const char* part :
       {"HDF5 file", "/group/four: shape (1, 2, 1, 2), int16", "/one: shape (), float32", "no checksums"})
    EXPECT_THAT(info.text, HasSubstr(part));
  EXPECT_THAT(error_of([&] { describe_file(world, directory / "text"); }),
              HasSubstr("text: not an HDF5 file"));
  EXPECT_THAT(error_of([&] { describe_file(world, directory / "none"); }), HasSubstr("No such file"));
}

}  // namespace
}  // namespace spsolve::testing
