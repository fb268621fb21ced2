// SPDX-License-Identifier: Apache-2.0
#include <future>

#include "io/probe_file.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

TEST(ProbeFile, IsMadeWhileAnotherThreadMakesFiles) {
  const Communicator world;
  const SharedDirectory directory(world);
  std::vector<ProbeGroup> groups;  // many, so that the threads are within the HDF5 library at the same time
  for (int i = 0; i < 100; ++i)
    groups.push_back({.name = std::to_string(i), .fields = {"u", "v"}, .axes = 1, .at = {0.0}, .rows = 10});
  const auto make = [&](const std::string& name) {
    constexpr int times = 10;
    for (int i = 0; i < times; ++i) ProbeFile(directory.path() / name, groups, Precision::fp64, 5);
  };
  auto other = std::async(std::launch::async, make, "other.h5");
  make("probes.h5");
  EXPECT_NO_THROW(other.get());
}

}  // namespace
}  // namespace spsolve::testing
