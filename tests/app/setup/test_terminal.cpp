// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "app/setup/terminal.hpp"

namespace spsolve {
namespace {

const std::string numbers = "step 123456/10000000  0.973 GStencil/s  0:00:41 to go";

TEST(ProgressLine, FitsAnyTerminal) {
  for (int columns = 0; columns < 200; ++columns)
    for (const double done : {0.0, 0.3, 1.0})
      EXPECT_LE(static_cast<int>(progress_line(done, numbers, columns).size()), std::max(0, columns - 1))
          << columns;
}

TEST(ProgressLine, TakesTheRoomThatThereIs) {
  EXPECT_EQ(progress_line(0.5, numbers, 200), "[###############...............] " + numbers);
  const std::string narrow = progress_line(0.5, numbers, 80);
  EXPECT_EQ(narrow.size(), 79u);
  EXPECT_TRUE(narrow.ends_with(numbers)) << narrow;
  EXPECT_EQ(progress_line(0.5, numbers, 60), numbers);  // no room for a bar
  EXPECT_EQ(progress_line(0.5, numbers, 12), "step 123456");
}

}  // namespace
}  // namespace spsolve
