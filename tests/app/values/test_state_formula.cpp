// SPDX-License-Identifier: Apache-2.0
#include "app/values/state_formula.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace spsolve {
namespace {

constexpr const char* waves = R"toml(
[grid]
shape = [40, 5]
[fields.p]
[fields.q]
[equations]
step = "p.next = p; q.next = q"
[time]
dt = 0.5
steps = 4
)toml";

/// Holds a formula of two fields, whose rows are filled with p = y and q = 2.
class StateFormulas : public ::testing::Test {
 protected:
  const RunConfig config = parse_config(waves, "waves.toml");
  const StateFormula formula{config, "p*q + x + t"};
  const Box box{{0, 0, 0}, {1, 40, 5}};

  static void fill(std::size_t field, const Index3& begin, std::span<double> row) {
    std::ranges::fill(row, field == 0 ? static_cast<double>(begin[y_axis]) : 2.0);
  }
};

TEST_F(StateFormulas, HaveTheirValuesOnAnyNumberOfThreads) {
  omp_set_num_threads(4);
  for (const int most : {1, 2, 100}) {
    std::vector<double> values(200);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    formula.evaluate(
        box, 3,
        [&](std::size_t field, const Index3& begin, std::span<double> row) {
          const std::lock_guard lock(mutex);
          threads.insert(std::this_thread::get_id());
          fill(field, begin, row);
        },
        nullptr,
        [&](const Index3& begin, std::span<const double> row) {
          std::ranges::copy(row, values.begin() + 5 * begin[y_axis]);
        },
        most);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], 2.0 * static_cast<double>(i / 5) + static_cast<double>(i % 5) + 1.5) << i;
    EXPECT_EQ(threads.size(), static_cast<std::size_t>(std::min(most, 4)));
  }
}

/// A row that cannot be read, or passed on, ends the evaluation: no exception leaves a thread.
TEST_F(StateFormulas, EndAtTheFirstFailure) {
  std::vector<std::int64_t> rows;
  const auto keep = [&](const Index3& begin, std::span<const double>) { rows.push_back(begin[y_axis]); };
  const auto fail_at_two = [](std::size_t field, const Index3& begin, std::span<double> row) {
    if (begin[y_axis] == 2) throw std::runtime_error("lost");
    fill(field, begin, row);
  };
  EXPECT_THROW(formula.evaluate(box, 0, fail_at_two, nullptr, keep, 1), std::runtime_error);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 1}));

  omp_set_num_threads(3);
  const auto full = [](const Index3&, std::span<const double>) { throw std::bad_alloc(); };
  EXPECT_THROW(formula.evaluate(box, 0, fill, nullptr, full), std::bad_alloc);
}

}  // namespace
}  // namespace spsolve
