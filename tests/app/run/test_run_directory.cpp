// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "app/run/run_directory.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& directory) {
  std::istringstream text(bytes_of(directory / "diagnostics.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

Diagnostics diagnostics_of(double first) {
  Diagnostics values;
  values.min = first;
  values.max = first + 1;
  values.mean = first + 2;
  values.l2 = first + 3;
  values.change_l2 = first + 4;
  return values;
}

TEST(DiagnosticsFile, HasTheColumnsOfOneField) {
  const Communicator world;
  const SharedDirectory directory(world);
  for (const char* const name : {"u", "p"}) {
    begin_diagnostics_file(world, directory.path(), {name}, {}, -1);
    add_diagnostics_row(world, directory.path(), 3, 0.5, {diagnostics_of(10)}, {});
    EXPECT_EQ(lines_of(directory.path()),
              (std::vector<std::string>{"step,time,min,max,mean,l2,change_l2", "3,0.5,10,11,12,13,14"}));
    world.barrier();
  }
}

TEST(DiagnosticsFile, HasColumnsOfEachOfSeveralFields) {
  const Communicator world;
  const SharedDirectory directory(world);
  begin_diagnostics_file(world, directory.path(), {"v", "u"}, {"energy"}, -1);
  add_diagnostics_row(world, directory.path(), 3, 0.5, {diagnostics_of(10), diagnostics_of(20)}, {0.25});
  EXPECT_EQ(lines_of(directory.path()),
            (std::vector<std::string>{
                "step,time,min_v,max_v,mean_v,l2_v,change_l2_v,min_u,max_u,mean_u,l2_u,change_l2_u,energy",
                "3,0.5,10,11,12,13,14,20,21,22,23,24,0.25"}));
}

TEST(DiagnosticsFile, RestartDropsLaterAndUnfinishedRows) {
  const Communicator world;
  const SharedDirectory directory(world);
  const std::vector<std::string> names{"u", "v"};
  begin_diagnostics_file(world, directory.path(), names, {}, -1);
  for (const std::int64_t step : {0, 10, 20, 30})
    add_diagnostics_row(world, directory.path(), step, 0.0, {diagnostics_of(1), diagnostics_of(2)}, {});
  const auto all = lines_of(directory.path());
  world.barrier();
  if (world.root()) {  // a row of the first field alone, as a kill may leave it
    std::ofstream file(directory / "diagnostics.csv", std::ios::app);
    file << "15,0,1,2,3,4,5";
  }
  EXPECT_TRUE(begin_diagnostics_file(world, directory.path(), names, {}, 20));
  EXPECT_EQ(lines_of(directory.path()), std::vector<std::string>(all.begin(), all.begin() + 4));
  world.barrier();
  EXPECT_FALSE(begin_diagnostics_file(world, directory.path(), names, {}, 15)) << "its row was not complete";
  EXPECT_FALSE(begin_diagnostics_file(world, directory.path(), names, {}, -1));
  EXPECT_EQ(lines_of(directory.path()), std::vector<std::string>(all.begin(), all.begin() + 1));
}

}  // namespace
}  // namespace spsolve::testing
