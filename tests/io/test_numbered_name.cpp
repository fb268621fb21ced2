// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "io/numbered_name.hpp"

namespace spsolve {
namespace {

TEST(NumberedNames, ReadBackAsWritten) {
  for (const char* stem : {"snapshot", "p-2", "two_words", ".shared"})
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{123}, std::int64_t{9'999'999'999}})
      for (const char* extension : {".hdf", ".h5.tmp", ""}) {
        const std::string text = to_text({stem, number, extension});
        const auto parts = parse_numbered_name(text);
        ASSERT_TRUE(parts) << text;
        EXPECT_EQ(parts->stem, stem);
        EXPECT_EQ(parts->number, number);
        EXPECT_EQ(parts->extension, extension);
      }
}

TEST(NumberedNames, HaveTenDigitsBehindAnUnderscore) {
  EXPECT_EQ(to_text({"heat", 20, ".png"}), "heat_0000000020.png");
  for (const char* other : {"", "heat", "heat.hdf", "_0000000020.hdf", "heat_000000020.hdf",
                            "heat_00000000020.hdf", "heat_000000002x.hdf", "heat_0000000020hdf",
                            "heat_-000000020.hdf", "heat-0000000020.hdf", "heat_ 000000020.hdf"})
    EXPECT_FALSE(parse_numbered_name(other)) << other;
}

}  // namespace
}  // namespace spsolve
