// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "halo/communicator.hpp"
#include "io/array_reader.hpp"
#include "io/hdf5/hdf5.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

/// Writes a file with datasets in the ways in which users store them.
class ArrayReader : public ::testing::Test {
 protected:
  ArrayReader() {
    std::string name = (std::filesystem::temp_directory_path() / "spsolve_reader_XXXXXX").string();
    directory_ = mkdtemp(name.data());
    file_ = directory_ / "grid.h5";
    output_.emplace_back(create_hdf5(file_, 1 << 20, 1 << 20, 1));
  }
  ~ArrayReader() override { std::filesystem::remove_all(directory_); }

  /// Stores the numbers as `type`; with `chunk`, in chunks of that many elements per axis, compressed.
  void store(const std::string& name, hid_t type, const std::vector<hsize_t>& extents,
             const std::vector<double>& values, hsize_t chunk = 0) {
    const Hdf5Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (chunk) {
      const std::vector<hsize_t> chunks(extents.size(), chunk);
      check_hdf5(H5Pset_chunk(creation, static_cast<int>(chunks.size()), chunks.data()));
      check_hdf5(H5Pset_deflate(creation, 4));
    }
    const Hdf5Id dataset(
        H5Dcreate2(output_.front(), name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
    if (!values.empty())
      check_hdf5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
  /// Stores booleans as h5py does.
  void store_mask(const std::string& name, const std::vector<hsize_t>& extents,
                  const std::vector<std::int8_t>& values) {
    const Hdf5Id boolean(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
    const std::int8_t no = 0, yes = 1;
    check_hdf5(H5Tenum_insert(boolean, "FALSE", &no));
    check_hdf5(H5Tenum_insert(boolean, "TRUE", &yes));
    store(name, boolean, extents, {});
    const Hdf5Id dataset(H5Dopen2(output_.front(), name.c_str(), H5P_DEFAULT), H5Dclose);
    check_hdf5(H5Dwrite(dataset, boolean, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
  void annotate(const std::string& name, const std::string& attribute, const AttributeValue& value) {
    const Hdf5Id dataset(H5Dopen2(output_.front(), name.c_str(), H5P_DEFAULT), H5Dclose);
    write_attribute(dataset, attribute, value);
  }
  /// Returns the file that is being written.
  hid_t output() const { return output_.front(); }
  /// Ends writing and returns the file, which may be read from now on.
  const std::filesystem::path& finished() {
    output_.clear();
    return file_;
  }
  /// Returns the message of the Error that `work` throws, which must be one of invalid input.
  template <class Work>
  static std::string complaint(Work&& work) {
    Status status{};
    const std::string message = error_of(work, &status);
    EXPECT_EQ(status, Status::invalid_input) << message;
    return message;
  }

  std::filesystem::path directory_, file_;

 private:
  std::vector<Hdf5Id> output_;
};

Domain domain_of(int dimensions, const Index3& shape) {
  Domain domain;
  domain.dimensions = dimensions;
  domain.shape = shape;
  return domain;
}

std::vector<double> samples(const Index3& shape) {
  std::vector<double> values;
  for_each_point(box_of(shape), [&](const Index3& p) { values.push_back(sample_value(p)); });
  return values;
}

std::vector<double> values_of(const std::filesystem::path& file, const std::string& dataset,
                              const Domain& domain, const Box& box) {
  return values_on(
      box, [&](const ValueSink& sink) { read_boxes(Communicator(), file, dataset, domain, box, sink); });
}

/// Stores a virtual dataset of all values of another dataset with `count` numbers.
void store_view(const std::filesystem::path& file, hsize_t count, const char* source_file,
                const char* source) {
  const Hdf5Id output(create_hdf5(file, 1 << 16, 1 << 16, 1)),
      space(H5Screate_simple(1, &count, nullptr), H5Sclose),
      creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check_hdf5(H5Pset_virtual(creation, space, source_file, source, space));
  Hdf5Id(H5Dcreate2(output, "u", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose)
      .close();
}

TEST_F(ArrayReader, RefusesVirtualDatasetsWithoutTheirSources) {
  store("u", H5T_IEEE_F64LE, {3}, {1, 2, 3});
  finished();
  const Domain domain = domain_of(1, {1, 1, 3});
  const auto view = directory_ / "view.h5";
  const auto read = [&] { return values_of(view, "u", domain, domain.box()); };
  const auto elsewhere = directory_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::copy(file_, elsewhere / "there.h5");
  setenv("HDF5_VDS_PREFIX", ("/nowhere:" + elsewhere.string()).c_str(), 1);
  for (const auto& there : {std::filesystem::path("grid.h5"), file_, std::filesystem::path("there.h5")}) {
    store_view(view, 3, there.c_str(), "u");
    EXPECT_EQ(read(), (std::vector<double>{1, 2, 3})) << there;
    store_view(directory_ / "outer.h5", 3, "view.h5", "u");
    EXPECT_EQ(values_of(directory_ / "outer.h5", "u", domain, domain.box()), read());
  }
  unsetenv("HDF5_VDS_PREFIX");
  EXPECT_THAT(complaint(read), HasSubstr("its source there.h5:u is missing"));
  EXPECT_THAT(complaint([&] { values_of(directory_ / "outer.h5", "u", domain, domain.box()); }),
              HasSubstr("outer.h5:u is virtual, and its source there.h5:u is missing"));
  for (const auto& [source_file, source] : {std::pair("lost.h5", "u"), std::pair("grid.h5", "v"),
                                            std::pair(".", "w"), std::pair("elsewhere/grid.h5", "u")}) {
    store_view(view, 3, source_file, source);
    EXPECT_EQ(complaint(read), fmt::format("{}:u is virtual, and its source {}:{} is missing", view.string(),
                                           source_file, source));
  }
}

TEST_F(ArrayReader, RefusesValuesThatWereNeverWritten) {
  constexpr hsize_t points = 6, points_of_chunk = 2;
  const double fill = 7;
  // Writes the first chunk alone, or nothing; with `filled`, the dataset says what the other values are.
  const auto make = [&](const char* name, bool chunked, bool written, bool filled) {
    const Hdf5Id space(H5Screate_simple(1, &points, nullptr), H5Sclose),
        part(H5Screate_simple(1, &points_of_chunk, nullptr), H5Sclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (chunked) check_hdf5(H5Pset_chunk(creation, 1, &points_of_chunk));
    if (filled) check_hdf5(H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill));
    const Hdf5Id dataset(
        H5Dcreate2(output(), name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
    const hsize_t first = 0;
    const double values[points_of_chunk] = {1, 2};
    check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &points_of_chunk, nullptr));
    if (written) check_hdf5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, values));
  };
  make("none", false, false, false);
  make("no_chunk", true, false, false);
  make("gaps", true, true, false);
  make("filled_gaps", true, true, true);
  make("filled", false, false, true);
  const auto& file = finished();
  const Domain domain = domain_of(1, {1, 1, 6});
  const auto read = [&](const char* name) { return values_of(file, name, domain, domain.box()); };
  const auto complaint_of = [&](const char* name) { return complaint([&] { read(name); }); };
  EXPECT_EQ(complaint_of("none"), file.string() + ":none has no values: none were written");
  EXPECT_EQ(complaint_of("no_chunk"), file.string() + ":no_chunk has no values: none were written");
  EXPECT_EQ(complaint_of("gaps"), file.string() + ":gaps has gaps: 2 of its 3 chunks were never written");
  EXPECT_EQ(read("filled_gaps"), (std::vector<double>{1, 2, 7, 7, 7, 7}));
  EXPECT_EQ(read("filled"), std::vector<double>(points, fill));
  const auto view = directory_ / "view.h5";
  store_view(view, points, "grid.h5", "gaps");
  EXPECT_THAT(complaint([&] { values_of(view, "u", domain, domain.box()); }),
              HasSubstr("is virtual, and its source /gaps has gaps"));
}

TEST_F(ArrayReader, ReadsAnyBoxOfAnyTypeAndLayout) {
  const Index3 shape{5, 7, 11};
  const std::vector<hsize_t> extents{5, 7, 11};
  auto values = samples(shape);
  const Hdf5Id half = storage_type(Precision::fp16), bfloat = storage_type(Precision::bf16);
  const std::vector<std::pair<std::string, hid_t>> floats{{"f64le", H5T_IEEE_F64LE},
                                                          {"f64be", H5T_IEEE_F64BE},
                                                          {"f32be", H5T_IEEE_F32BE},
                                                          {"f16", half},
                                                          {"bf16", bfloat}};
  for (const auto& [name, type] : floats) store(name, type, extents, values);
  store("chunked", H5T_IEEE_F64LE, extents, values, 3);
  std::vector<double> whole(values);
  for (double& value : whole) value *= 8;  // integers in [-63, 63]
  const std::vector<std::pair<std::string, hid_t>> integers{
      {"i8", H5T_STD_I8LE}, {"i32be", H5T_STD_I32BE}, {"i64", H5T_STD_I64LE}};
  for (const auto& [name, type] : integers) store(name, type, extents, whole);
  const auto& file = finished();
  const Box part{{1, 2, 3}, {4, 7, 10}};
  const auto expect = [&](const std::string& name, const std::vector<double>& expected) {
    EXPECT_EQ(values_of(file, name, domain_of(3, shape), box_of(shape)), expected) << name;
    const auto read = values_of(file, "/" + name, domain_of(3, shape), part);
    auto value = read.begin();
    for_each_point(part, [&](const Index3& p) { ASSERT_EQ(*value++, expected[index_of(p, shape)]) << name; });
  };
  for (const auto& [name, type] : floats) expect(name, values);
  expect("chunked", values);
  for (const auto& [name, type] : integers) expect(name, whole);
  EXPECT_EQ(type_name(bfloat), "bfloat16");
  EXPECT_EQ(type_name(H5T_STD_I32BE), "int32");
  read_boxes(Communicator(), file, "f64le", domain_of(3, shape), Box{},
             [](const Index3&, std::span<const double>) { FAIL() << "an empty box has no values"; });
}

TEST_F(ArrayReader, ReadsInPartsWhatIsLargerThanItsMemory) {
  const Index3 shape{1, 1021, 1031};  // two parts and more
  store("u", H5T_IEEE_F32LE, {1021, 1031}, samples(shape));
  EXPECT_TRUE(values_of(finished(), "u", domain_of(2, shape), box_of(shape)) == samples(shape));
}

TEST_F(ArrayReader, ComplainsOfAnotherShape) {
  store("u", H5T_IEEE_F64LE, {3, 3}, samples({1, 3, 3}));
  const auto& file = finished();
  const Index3 shape{1, 256, 256};
  EXPECT_EQ(complaint([&] { values_of(file, "/u", domain_of(2, shape), box_of(shape)); }),
            file.string() + ":/u has shape (3, 3), wanted (256, 256)");
  EXPECT_EQ(complaint([&] {
              values_of(file, "/u", domain_of(3, {3, 3, 1}), Box{});
            }),
            file.string() + ":/u has shape (3, 3), wanted (3, 3, 1)");
  EXPECT_EQ(complaint([&] {
              values_of(file, "/u", domain_of(1, {1, 1, 9}), Box{});
            }),
            file.string() + ":/u has shape (3, 3), wanted (9,)");
}

TEST_F(ArrayReader, ComplainsOfMissingDatasetsAndSaysWhichThereAre) {
  store("temperature", H5T_IEEE_F64LE, {2}, {1, 2});
  store("velocity", H5T_IEEE_F64LE, {2}, {1, 2});
  const auto& file = finished();
  const std::string message = complaint([&] { read_weights(file, "/temprature", 1); });
  EXPECT_THAT(message, HasSubstr("has no dataset \"/temprature\"; did you mean \"/temperature\"?; it holds "
                                 "/temperature, /velocity"));
}

TEST_F(ArrayReader, ComplainsOfFilesThatAreNone) {
  put_bytes(directory_ / "text.h5", "not HDF5");
  put_bytes(directory_ / "empty.h5", "");
  store("u", H5T_IEEE_F64LE, {3, 3}, samples({1, 3, 3}));
  const std::string bytes = bytes_of(finished());
  put_bytes(directory_ / "cut.h5", bytes.substr(0, bytes.size() / 2));
  const auto message = [&](const std::string& name) {
    return complaint([&] { read_weights(directory_ / name, "u", 1); });
  };
  EXPECT_THAT(message("text.h5"), HasSubstr("text.h5: not an HDF5 file"));
  EXPECT_THAT(message("empty.h5"), HasSubstr("empty.h5: not an HDF5 file"));
  EXPECT_THAT(message("cut.h5"), HasSubstr("cut.h5: damaged HDF5 file (truncated"));
  EXPECT_THAT(message("none.h5"), HasSubstr("none.h5: No such file or directory"));
  EXPECT_THAT(message(""), HasSubstr("is a directory"));
}

TEST_F(ArrayReader, ComplainsOfTypesThatAreNoNumbers) {
  const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
  store("text", text, {2}, {});
  const Hdf5Id complex(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
  check_hdf5(H5Tinsert(complex, "r", 0, H5T_NATIVE_DOUBLE));
  check_hdf5(H5Tinsert(complex, "i", 8, H5T_NATIVE_DOUBLE));
  store("complex", complex, {2}, {});
  const auto& file = finished();
  EXPECT_THAT(complaint([&] { read_weights(file, "text", 1); }), HasSubstr("has type string"));
  EXPECT_THAT(complaint([&] { read_weights(file, "complex", 1); }), HasSubstr("has type compound"));
}

TEST_F(ArrayReader, ReadsBooleansAsZeroAndOne) {
  const std::vector<std::int8_t> mask{0, 1, 1, 0, 0, 1};
  store_mask("mask", {2, 3}, mask);
  const Index3 shape{1, 2, 3};
  EXPECT_EQ(values_of(finished(), "mask", domain_of(2, shape), box_of(shape)),
            std::vector<double>(mask.begin(), mask.end()));
}

TEST_F(ArrayReader, ComplainsOfValuesThatAreNotFiniteAndSaysWhere) {
  auto values = samples({3, 5, 7});
  values[(2 * 5 + 3) * 7 + 4] = std::numeric_limits<double>::quiet_NaN();
  store("nan", H5T_IEEE_F64LE, {3, 5, 7}, values);
  store("inf", H5T_IEEE_F32LE, {3}, {0, std::numeric_limits<double>::infinity(), 0});
  const auto& file = finished();
  const Domain domain = domain_of(3, {3, 5, 7});
  EXPECT_EQ(complaint([&] {
              values_of(file, "/nan", domain, Box{{1, 2, 1}, {3, 5, 7}});
            }),
            file.string() + ":/nan is nan at [2, 3, 4], wanted finite numbers");
  EXPECT_EQ(values_of(file, "/nan", domain, Box{{0, 0, 0}, {2, 5, 7}}).size(), 70u);
  EXPECT_EQ(complaint([&] {
              values_of(file, "/inf", domain_of(1, {1, 1, 3}), box_of({1, 1, 3}));
            }),
            file.string() + ":/inf is inf at [1], wanted finite numbers");
}

TEST_F(ArrayReader, ReadsWeightsAroundTheirCenter) {
  store("even", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
  store("off", H5T_STD_I32BE, {1, 3}, {1, 2, 4});
  annotate("off", "center", std::vector<std::int64_t>{0, 2});
  store("outside", H5T_IEEE_F64LE, {3}, {1, 2, 4});
  annotate("outside", "center", std::vector<std::int64_t>{3});
  store("one_index", H5T_IEEE_F64LE, {2, 2}, {1, 2, 4, 5});
  annotate("one_index", "center", std::int64_t{1});
  store("zero", H5T_IEEE_F64LE, {3}, {0, 0, 0});
  store("none", H5T_IEEE_F64LE, {3, 0}, {});
  const auto& file = finished();
  EXPECT_EQ(read_weights(file, "even", 2).taps(), Stencil({1, 2, 3}, {1, 2, 3, 4, 5, 6}, {0, 1, 1}).taps());
  EXPECT_EQ(read_weights(file, "off", 2).taps(), Stencil({1, 1, 3}, {1, 2, 4}, {0, 0, 2}).taps());
  EXPECT_THAT(complaint([&] { read_weights(file, "even", 3); }),
              HasSubstr("has shape (2, 3), wanted 3 axes"));
  EXPECT_THAT(complaint([&] { read_weights(file, "outside", 1); }), HasSubstr("is no stencil"));
  EXPECT_THAT(complaint([&] { read_weights(file, "one_index", 2); }),
              HasSubstr("\"center\" with 1 indices, wanted 2"));
  EXPECT_THAT(complaint([&] { read_weights(file, "zero", 1); }), HasSubstr("is no stencil"));
  EXPECT_THAT(complaint([&] { read_weights(file, "none", 2); }), HasSubstr("has shape (3, 0): no stencil"));
}

}  // namespace
}  // namespace spsolve::testing
