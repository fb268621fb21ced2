// SPDX-License-Identifier: Apache-2.0
// write_forever DIRECTORY writes checkpoints of two fields and rising step until it is killed
// (kill_writer.py). write_forever --check DIRECTORY prints the step of the newest good checkpoint (-1: none)
// and the files passed over.
#include <cstdio>
#include <string_view>

#include "halo/mpi_session.hpp"
#include "io/checkpoint.hpp"
#include "tests/io/sample_array.hpp"

using namespace spsolve;

int main(int argc, char** argv) {
  MpiSession mpi(argc, argv);
  const Communicator world;
  if (argc == 3 && std::string_view(argv[1]) == "--check") {
    const auto latest = find_latest_checkpoint(world, argv[2]);
    std::printf("%lld\n", latest.checkpoint ? static_cast<long long>(latest.checkpoint->header.step) : -1LL);
    for (const auto& reason : latest.skipped) std::printf("%s\n", reason.c_str());
    return 0;
  }
  const std::filesystem::path directory = argv[1];
  const Index3 shape{61, 127, 283};  // five blocks each
  const Box box = spsolve::testing::part_of(shape, {1, world.size(), 1}, world.rank());
  for (std::int64_t step = 1;; ++step) {
    write_checkpoint(world, directory, {step, 0.0, Precision::fp64, "", "", "", {"u", "v"}}, 3, shape, box,
                     {{"u", spsolve::testing::sample_rows(Precision::fp64)},
                      {"v", spsolve::testing::sample_rows(Precision::fp64, -1.0)}});
    if (world.root()) std::printf("%lld\n", static_cast<long long>(step)), std::fflush(stdout);
    prune_checkpoints(world, directory, step, 2);
  }
}
