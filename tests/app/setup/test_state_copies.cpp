// SPDX-License-Identifier: Apache-2.0
#include "app/setup/state_copies.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "io/input/config.hpp"
#include "solver/block_memory.hpp"

namespace spsolve {

/// Makes failures readable, and lets copies be compared.
bool operator==(const StateCopies& a, const StateCopies& b) {
  return a.sampling == b.sampling && a.arrays == b.arrays;
}

namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Has two fields and three arrays of state; 100 steps write 11 snapshots of fp32.
constexpr const char* waves = R"toml(
[grid]
shape = [12, 20]
[boundary]
y = "neumann"
x = "neumann"
[fields.p]
[fields.q]
[equations]
step = "p.next = 2*p - p.previous + 0.1*laplace(p); q.next = p"
[time]
dt = 0.1
steps = 100
[compute]
device = "cpu"
precision = "fp64"
[output]
every = 10
precision = "fp32"
)toml";

Setup setup_of(bool background, const std::string& more = "") {
  const Communicator world;
  Tables tables(world);
  Setup setup = make_setup(world, parse_config(waves + more, "waves.toml"), tables);
  setup.background = background;
  return setup;
}

constexpr Sampling whole{1, Precision::fp64}, rounded{1, Precision::fp32}, coarse{2, Precision::fp32};

TEST(StateCopies, AreThoseOfAllFilesInProgressAndACheckpoint) {
  const spsolve::Setup setup = setup_of(true);
  EXPECT_THAT(state_copies(setup, 1), UnorderedElementsAre(StateCopies{rounded, 2}, StateCopies{whole, 3}));
  EXPECT_THAT(state_copies(setup, 5), UnorderedElementsAre(StateCopies{rounded, 10}, StateCopies{whole, 3}));
  EXPECT_THAT(state_copies(setup, 16), UnorderedElementsAre(StateCopies{rounded, 22}, StateCopies{whole, 3}))
      << "there are no more than 11 files";
  EXPECT_EQ(bytes_of_state_copies(setup, 5),
            10 * copy_bytes(setup.decomposition, rounded) + 3 * copy_bytes(setup.decomposition, whole));
}

TEST(StateCopies, AreSharedByFilesOfTheSamePoints) {
  const std::string streams = R"toml(
[[outputs]]
name = "coarse"
every_time = 5.0
stride = 2
precision = "fp32"
[[outputs]]
name = "p"
fields = ["p"]
every = 50
stride = 2
precision = "fp32"
[[outputs]]
name = "all"
precision = "fp64"
)toml";
  // There are 3 files of both fields and 3 of one in `coarse`, and one in `whole`, beside which a checkpoint
  // may be in progress.
  const spsolve::Setup setup = setup_of(true, streams);
  EXPECT_THAT(state_copies(setup, 4),
              UnorderedElementsAre(StateCopies{rounded, 8}, StateCopies{coarse, 8}, StateCopies{whole, 5}));
  EXPECT_THAT(state_copies(setup, 1),
              UnorderedElementsAre(StateCopies{rounded, 2}, StateCopies{coarse, 2}, StateCopies{whole, 3}));
  EXPECT_THAT(state_copies(setup, 24),
              UnorderedElementsAre(StateCopies{rounded, 22}, StateCopies{coarse, 12}, StateCopies{whole, 5}));
}

TEST(StateCopies, OfSumsAreCountedToo) {
  const std::string of_one = "[diagnostics]\nsums = { energy = \"p^2\" }\n";
  EXPECT_THAT(state_copies(setup_of(true, of_one), 2),
              UnorderedElementsAre(StateCopies{rounded, 4}, StateCopies{whole, 4}));
  const std::string of_both = "[diagnostics]\nsums = { energy = \"p^2\", all = \"p + q\" }\n";
  EXPECT_THAT(state_copies(setup_of(true, of_both), 2),
              UnorderedElementsAre(StateCopies{rounded, 4}, StateCopies{whole, 5}));
  spsolve::Setup waits = setup_of(false, of_both);  // for each file, so sums have copies of their own time
  waits.device.cuda = true;
  EXPECT_THAT(state_copies(waits, 1), UnorderedElementsAre(StateCopies{rounded, 2}, StateCopies{whole, 3}));
}

TEST(MemoryNeed, OfSumsHasTheirCoefficients) {
  const std::string coefficients = "[coefficients]\nk = \"x\"\nm = \"x*y\"\n";
  const auto sums_of = [&](const std::string& formula) {
    return memory_need(setup_of(true, coefficients + "[diagnostics]\nsums = { s = \"" + formula + "\" }\n"))
        .sums;
  };
  EXPECT_EQ(sums_of("k*p"), sums_of("x*p") + 2 * 12 * 20 * sizeof(double)) << "all are read together";
}

TEST(StateCopies, AreNotMadeWhereTheStateItselfIsWritten) {
  const std::string coarse_stream =
      "[[outputs]]\nname = \"coarse\"\nstride = 2\nevery = 10\nprecision = \"fp32\"\n";
  EXPECT_THAT(state_copies(setup_of(false), 1), IsEmpty());
  EXPECT_THAT(state_copies(setup_of(false, coarse_stream), 1), UnorderedElementsAre(StateCopies{coarse, 2}));
  spsolve::Setup on_gpu = setup_of(false);
  on_gpu.device.cuda = true;
  EXPECT_THAT(state_copies(on_gpu, 1), UnorderedElementsAre(StateCopies{rounded, 2}, StateCopies{whole, 3}));
}

}  // namespace
}  // namespace spsolve
