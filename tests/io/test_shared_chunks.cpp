// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <utility>

#include "io/array_reader.hpp"
#include "io/hdf5/hdf5.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

constexpr Index3 shape{1, 1024, 1024};  // one chunk of it is read in two parts

std::vector<double> samples(const Box& box) {
  std::vector<double> values;
  for_each_point(box, [&](const Index3& p) { values.push_back(sample_value(p)); });
  return values;
}

/// Writes /u in chunks that pass the filter of inverting_filter.cpp.
void write_inverted(const std::filesystem::path& path, const Index3& chunk) {
  const std::vector<hsize_t> extents(shape.begin() + 1, shape.end()), chunks(chunk.begin() + 1, chunk.end());
  const Hdf5Id file(create_hdf5(path, 1 << 20, 1 << 20, 1)),
      space(H5Screate_simple(2, extents.data(), nullptr), H5Sclose),
      creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check_hdf5(H5Pset_chunk(creation, 2, chunks.data()));
  check_hdf5(H5Pset_filter(creation, 300, H5Z_FLAG_MANDATORY, 0, nullptr));
  const Hdf5Id dataset(H5Dcreate2(file, "u", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose);
  check_hdf5(
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples(box_of(shape)).data()));
}

/// Ranks whose boxes lie in the same chunks read them in turns and send each other the values.
TEST(SharedChunks, AreDecodedOnceInAll) {
  ASSERT_GE(H5PLprepend(SPSOLVE_TEST_FILTERS), 0);
  void* const plugin = dlopen(SPSOLVE_TEST_FILTERS "/libinverting_filter.so", RTLD_LAZY);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const auto decodings = reinterpret_cast<std::int64_t (*)()>(dlsym(plugin, "decodings"));
  ASSERT_NE(decodings, nullptr);

  const Communicator world;
  const SharedDirectory directory(world);
  Domain domain;
  domain.dimensions = 2;
  domain.shape = shape;
  const Box box = part_of(shape, {1, 1, world.size()}, world.rank());
  const std::pair<Index3, int> cases[] = {
      {shape, 1}, {{1, 300, 1024}, 4}, {{1, 700, 600}, 4}, {{1, 1024, 128}, 8}};
  for (const auto& [chunk, count] : cases) {
    const auto file = directory / "u.h5";
    if (world.root()) write_inverted(file, chunk);
    world.barrier();
    const std::int64_t before = decodings();
    const std::vector<double> values =
        values_on(box, [&](const ValueSink& sink) { read_boxes(world, file, "u", domain, box, sink); });
    EXPECT_EQ(values, samples(box));
    EXPECT_EQ(world.all_reduce(decodings() - before, MPI_SUM), count) << chunk[y_axis];
    world.barrier();
  }
}

}  // namespace
}  // namespace spsolve::testing
