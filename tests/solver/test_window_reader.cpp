// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/sampling.hpp"
#include "solver/window_reader.hpp"

namespace spsolve {
namespace {

/// Counts the bytes that windows were asked for. Windows fail, and lose what they held, if they are `broken`.
struct Traffic {
  std::size_t bytes = 0;
  int windows = 0;
  bool broken = false;
};

/// Is a window whose device is the host. What it held is gone after the next call.
class HostWindow : public WindowReader::FieldWindow {
 public:
  HostWindow(const Field& field, Traffic& traffic) : field_(field), traffic_(traffic) { ++traffic_.windows; }

  const std::byte* bring(const std::byte* first, std::size_t bytes) override {
    const Box& box = field_.owned();
    EXPECT_GE(first, field_.bytes_at(box.begin));
    EXPECT_LE(first + bytes, field_.bytes_at(box.end - Index3{1, 1, 1}) + storage_bytes(field_.precision()));
    memory_ = traffic_.broken ? std::vector(bytes, std::byte{0xa5}) : std::vector(first, first + bytes);
    if (traffic_.broken) throw std::runtime_error("broken");
    traffic_.bytes += bytes;
    return memory_.data();
  }

 private:
  const Field& field_;
  Traffic& traffic_;
  std::vector<std::byte> memory_;
};

/// Holds a field whose memory is random, padding included.
class WindowReaderOf : public ::testing::TestWithParam<Precision> {
 protected:
  WindowReaderOf() : field(Box{{3, 2, 5}, {7, 9, 5 + 21}}, {0, 0, 0}, GetParam()) {
    std::byte* const begin = field.bytes_at(field.owned().begin);
    std::byte* const end = field.bytes_at(field.owned().end - Index3{1, 1, 1}) + storage_bytes(GetParam());
    std::mt19937 random(1);
    for (std::byte* p = begin; p < end; ++p) *p = static_cast<std::byte>(random());
  }
  WindowReader reader(std::size_t window_bytes) {
    return {field, window_bytes, [this] { return std::make_unique<HostWindow>(field, traffic); }};
  }
  void expect_same(WindowReader& reader, const Index3& begin, std::int64_t elements) const {
    EXPECT_EQ(std::memcmp(reader(begin, elements), field.bytes_at(begin),
                          static_cast<std::size_t>(elements) * storage_bytes(GetParam())),
              0)
        << begin[0] << " " << begin[1] << " " << begin[2] << ", " << elements << " elements";
  }

  Field field;
  Traffic traffic;
};

/// Windows are smaller than an element, a row or a plane, or larger than the field, and of odd sizes, so that
/// rows straddle the ends of windows.
constexpr std::size_t window_sizes[] = {1, 7, 64, 131, 500, 1001, 3000, 20'000};

TEST_P(WindowReaderOf, GivesRowsInOrder) {
  const Box& box = field.owned();
  const std::int64_t pitch = field.pitch(), length = box.extent()[x_axis];
  for (const std::size_t bytes : window_sizes)
    for (const std::int64_t rows : {1, 2, 3}) {  // with the padding between them
      WindowReader read = reader(bytes);
      for (std::int64_t row = 0; row < row_count(box); row += rows) {
        SCOPED_TRACE(::testing::Message() << bytes << " bytes, row " << row);
        const std::int64_t last = std::min(row + rows, row_count(box)) - row - 1;
        expect_same(read, row_begin(box, row), last * pitch + length);
        expect_same(read, row_begin(box, row) + Index3{0, 0, 4}, length - 4);
      }
    }
}

TEST_P(WindowReaderOf, GivesPartsInAnyOrder) {
  std::mt19937 random(2);
  const Box& box = field.owned();
  const std::int64_t length = box.extent()[x_axis];
  for (const std::size_t bytes : window_sizes) {
    WindowReader read = reader(bytes);
    std::int64_t row = 0;
    for (int i = 0; i < 400; ++i) {
      row = i % 3 == 0 ? static_cast<std::int64_t>(random() % row_count(box)) : (row + 1) % row_count(box);
      const auto x = static_cast<std::int64_t>(random() % length);
      expect_same(read, row_begin(box, row) + Index3{0, 0, x},
                  1 + static_cast<std::int64_t>(random() % (length - x)));
    }
  }
}

TEST_P(WindowReaderOf, CopiesHaveWindowsOfTheirOwn) {
  const Box& box = field.owned();
  WindowReader first = reader(300);
  expect_same(first, box.begin, 9);
  const std::byte* const kept = first(box.begin, 9);
  WindowReader second = first;
  const Index3 last = row_begin(box, row_count(box) - 1);
  expect_same(second, last, 9);
  EXPECT_EQ(std::memcmp(kept, field.bytes_at(box.begin), 9 * storage_bytes(GetParam())), 0);
  EXPECT_EQ(traffic.windows, 2);
}

/// Rows that are read in order come once, if windows end where rows do.
TEST_P(WindowReaderOf, BringsNothingTwice) {
  const Box& box = field.owned();
  const auto row_bytes = static_cast<std::size_t>(field.pitch()) * storage_bytes(GetParam());
  WindowReader read = reader(4 * row_bytes);
  for (std::int64_t row = 0; row < row_count(box); ++row)
    expect_same(read, row_begin(box, row), box.extent()[x_axis]);
  EXPECT_LE(traffic.bytes, static_cast<std::size_t>(row_count(box)) * row_bytes);
  EXPECT_EQ(traffic.windows, 1);
}

TEST_P(WindowReaderOf, HoldsNothingAfterAFailure) {
  const Box& box = field.owned();
  WindowReader read = reader(64);
  expect_same(read, box.begin, 5);
  traffic.broken = true;
  EXPECT_THROW(read(row_begin(box, row_count(box) - 1), 5), std::runtime_error);
  traffic.broken = false;
  expect_same(read, box.begin, 5);
}

INSTANTIATE_TEST_SUITE_P(Precisions, WindowReaderOf,
                         ::testing::Values(Precision::fp64, Precision::fp32, Precision::fp16));

}  // namespace
}  // namespace spsolve
