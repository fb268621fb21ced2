// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "app/setup/points.hpp"
#include "app/setup/setup.hpp"
#include "app/values/table_checksums.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve::testing {
namespace {

/// Writes a dataset of doubles.
void store(hid_t file, const char* name, const std::vector<hsize_t>& shape,
           const std::vector<double>& values) {
  const Hdf5Id space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  const Hdf5Id dataset(
      H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  check_hdf5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}

constexpr const char* input = R"toml(
[grid]
shape = [4, 5]
[boundary]
y = { low = { dirichlet = { file = "tables.h5", dataset = "/wall" } }, high = "neumann" }
x = "neumann"
[fields.u]
initial = "0"
[equations]
step = "u.next = u + 0.1*laplace(u)"
[time]
dt = 1.0
steps = 3
[[point_sources]]
field = "u"
at = { file = "tables.h5", dataset = "/at" }
value = { file = "tables.h5", dataset = "/signal" }
[[probes]]
name = "p"
fields = ["u"]
at = { file = "tables.h5", dataset = "/at" }
)toml";

TEST(Tables, AreReadOnceForAllThatNeedThem) {
  const Communicator world;
  std::string name = (std::filesystem::temp_directory_path() / "spsolve_tables_XXXXXX").string();
  const std::filesystem::path directory = mkdtemp(name.data());
  const auto file = directory / "tables.h5";
  {
    const Hdf5Id output(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    store(output, "wall", {5}, {1, 2, 3, 4, 5});
    store(output, "at", {2, 2}, {1, 1, 2, 3});
    store(output, "signal", {3}, {1, 2, 3});
  }
  const RunConfig config = parse_config(input, directory / "input.toml", {});
  Tables tables(world);
  const Stencils stencils = read_stencils(world, config);
  const Problem problem = problem_of(config, tables, stencils);
  ASSERT_TRUE(problem.equations);
  EXPECT_EQ(problem.equations->filled.size(), 4u);
  const ValueChecksums checksums = checksums_of_tables(tables, config, 3);
  EXPECT_EQ(checksums.size(), 4u);

  // Nothing can read the file a second time.
  std::filesystem::remove_all(directory);
  EXPECT_EQ(problem_of(config, tables, stencils).equations->filled.size(), 4u);
  EXPECT_EQ(checksums_of_tables(tables, config, 3), checksums);
  EXPECT_NO_THROW(check_points(tables, config));
  const auto points = read_points(tables, config.grid, config.probes.front().at, "probes.p.at");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1], (Coordinates{0, 2, 3}));

  // The tables were indeed those of the file.
  tables.clear();
  EXPECT_THROW(check_points(tables, config), Error);
}

}  // namespace
}  // namespace spsolve::testing
