// SPDX-License-Identifier: Apache-2.0
// write_fields DIRECTORY POINTS... writes a snapshot of the fields v and u, at step 1, of a grid of 1 to 3
// axes (slowest first). v is the index of the point in C order, u half of it with the sign changed.
#include <algorithm>
#include <cstdlib>

#include "halo/mpi_session.hpp"
#include "io/snapshot.hpp"
#include "tests/io/sample_array.hpp"

using namespace spsolve;

int main(int argc, char** argv) {
  MpiSession mpi(argc, argv);
  const Communicator world;
  SnapshotSeries series(argv[1]);
  Snapshot snapshot{.name = "fields", .step = 1, .grid = {}};
  Domain& domain = snapshot.grid.domain;
  domain.dimensions = argc - 2;
  domain.shape = {1, 1, 1};
  std::transform(argv + 2, argv + argc, domain.shape.end() - domain.dimensions,
                 [](const char* points) { return std::atoll(points); });
  const auto rows = [&](double factor) -> RowSource {
    return [&domain, factor](const Index3& begin, std::int64_t points, std::byte* out) {
      for (std::int64_t i = 0; i < points; ++i)
        reinterpret_cast<double*>(out)[i] =
            factor * static_cast<double>(index_of(begin + Index3{0, 0, i}, domain.shape));
    };
  };
  write_snapshot(world, series, snapshot,
                 spsolve::testing::part_of(domain.shape, {1, 1, world.size()}, world.rank()),
                 {{"v", rows(1.0)}, {"u", rows(-0.5)}});
}
