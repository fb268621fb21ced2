// SPDX-License-Identifier: Apache-2.0
// write_samples DIRECTORY: files of known values for readers that are not ours (check_samples.py).
#include <cstdio>

#include "io/checkpoint.hpp"
#include "io/field_rows.hpp"
#include "io/snapshot.hpp"
#include "tests/io/sample_array.hpp"

using namespace spsolve;

namespace {

/// The value says where it is, and fits float32.
RowSource coordinates(Precision precision, std::int64_t stride) {
  return [precision, stride](const Index3& begin, std::int64_t points, std::byte* out) {
    with_storage(precision, [&]<class Storage>() {
      for (std::int64_t i = 0; i < points; ++i)
        reinterpret_cast<Storage*>(out)[i] = to_storage<Storage>(
            static_cast<double>(stride * (10'000 * begin[z_axis] + 100 * begin[y_axis] + begin[x_axis] + i)));
    });
  };
}

}  // namespace

int main(int argc, char** argv) {
  MpiSession mpi(argc, argv);
  const Communicator world;
  const std::filesystem::path directory = argc > 1 ? argv[1] : ".";
  try {
    struct Case {
      const char* name;
      int dimensions;
      Index3 shape;
      std::int64_t stride;
      Precision precision;
    };
    for (const Case& sample :
         {Case{"d3", 3, {7, 5, 11}, 1, Precision::fp64}, Case{"d3_thin", 3, {6, 4, 9}, 2, Precision::fp32},
          Case{"d2", 2, {1, 13, 7}, 1, Precision::fp32}, Case{"d2_thin", 2, {1, 9, 8}, 3, Precision::fp64},
          Case{"d1", 1, {1, 1, 17}, 1, Precision::fp64},
          Case{"d3_large", 3, {90, 83, 97}, 1, Precision::fp64}}) {
      Snapshot snapshot{.name = sample.name,
                        .step = 20,
                        .time = 0.25,
                        .grid = {},
                        .stride = sample.stride,
                        .precision = sample.precision};
      snapshot.grid.domain.dimensions = sample.dimensions;
      snapshot.grid.domain.shape = sample.shape;
      for (int axis = axis_count - sample.dimensions; axis < axis_count; ++axis) {
        snapshot.grid.spacing[axis] = 0.5 * (axis + 1);
        snapshot.grid.origin[axis] = 1.5 - axis;
      }
      const auto folder = directory / sample.name;
      if (world.root()) std::filesystem::create_directories(folder);
      world.barrier();
      const Box box = spsolve::testing::part_of(snapshot.format().shape, {1, world.size(), 1}, world.rank());
      write_snapshot(world, folder, snapshot, box, coordinates(sample.precision, sample.stride));
      snapshot.step = 40;
      snapshot.time = 0.5;
      write_snapshot(world, folder, snapshot, box, coordinates(sample.precision, sample.stride));
    }
    for (const auto precision : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}) {
      const auto folder = directory / to_string(precision);
      if (world.root()) std::filesystem::create_directories(folder);
      world.barrier();
      const Index3 shape{3, 5, 7};
      write_checkpoint(world, folder, {20, 0.25, precision, "name = \"größe\"\n", "{}"}, 3, shape,
                       spsolve::testing::part_of(shape, {1, world.size(), 1}, world.rank()),
                       spsolve::testing::sample_rows(precision));
    }
  } catch (const Error& error) {
    if (world.root()) std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.status());
  }
}
