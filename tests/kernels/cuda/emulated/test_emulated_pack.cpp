// SPDX-License-Identifier: Apache-2.0
// Runs packing, as it is compiled for GPUs, in an emulation of its blocks. No GPU is needed.
#include <gtest/gtest.h>

#include <random>

#include "emulated.hpp"
#include "kernels/cuda/transfer/packer.hpp"
#include "kernels/rounding.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::cuda {
namespace {

/// Returns the parts of an axis of n points and its halo that are periodic copies of the points, as {image,
/// begin, end}.
std::vector<std::array<std::int64_t, 3>> segments(std::int64_t n, std::int64_t halo) {
  std::vector<std::array<std::int64_t, 3>> parts;  // image, begin, end
  for (std::int64_t image = -ceil_div(halo, n); image <= ceil_div(halo, n); ++image)
    parts.push_back({image, std::max(-halo, image * n), std::min(n + halo, (image + 1) * n)});
  return parts;
}

/// Returns all periodic copies of the points of a grid in its halo.
std::vector<BoxCopy> images(const Index3& shape, const Index3& halo) {
  std::vector<BoxCopy> copies;
  for (const auto& z : segments(shape[0], halo[0]))
    for (const auto& y : segments(shape[1], halo[1]))
      for (const auto& x : segments(shape[2], halo[2])) {
        if (z[0] == 0 && y[0] == 0 && x[0] == 0) continue;
        const Index3 to{z[1], y[1], x[1]}, shift{z[0] * shape[0], y[0] * shape[1], x[0] * shape[2]};
        copies.push_back({Index3{z[2], y[2], x[2]} - to, to - shift, to});
      }
  return copies;
}

Field random_field(const Index3& shape, const Index3& halo, Precision precision) {
  Field field({{0, 0, 0}, shape}, halo, precision);
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> value;
  with_storage(precision, [&]<class Storage>() {
    for_each_point(field.allocated(),
                   [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(value(generator)); });
  });
  return field;
}

void copy_emulated(const std::vector<BoxCopy>& copies, Field& field, std::byte* buffer,
                   std::int64_t max_points = 1 << 29) {
  const PackTable table = pack_table(copies, field, max_points);
  launch_emulated_pack({{reinterpret_cast<unsigned char*>(field.bytes_at(field.owned().begin)),
                         reinterpret_cast<unsigned char*>(buffer)},
                        table.copies.data(),
                        table.first_pieces.data(),
                        static_cast<int>(table.copies.size()),
                        table.pieces},
                       static_cast<int>(pack_blocks(table.pieces)));
}

/// Compares copies within a field with those of the host, in one part and in several.
void expect_as_by_host(const std::vector<BoxCopy>& copies, const Index3& shape, const Index3& halo,
                       Precision precision) {
  Field wanted = random_field(shape, halo, precision), found = random_field(shape, halo, precision);
  HostPacker().prepare(copies, wanted)->copy(wanted, nullptr);
  copy_emulated(copies, found, nullptr);
  EXPECT_EQ(testing::points_of(found, found.allocated()), testing::points_of(wanted, wanted.allocated()));
  Field in_parts = random_field(shape, halo, precision);
  copy_emulated(copies, in_parts, nullptr, 50);
  EXPECT_EQ(testing::points_of(in_parts, found.allocated()), testing::points_of(wanted, found.allocated()));
}

/// Provides memory whose addresses are never read.
class NoMemory : public Memory {
 public:
  std::byte* allocate(std::size_t, std::size_t) override {
    return reinterpret_cast<std::byte*>(std::size_t{1} << 40);
  }
  void free(std::byte*) noexcept override {}
};

TEST(PackLaunches, CopyRowsOfFourGiB) {
  NoMemory memory;
  const std::int64_t columns = std::int64_t{1} << 29;
  for (const std::int64_t more : {0, 8}) {
    const Field field({{0, 0, 0}, {1, 8, columns + more}}, {0, 1, 0}, Precision::fp64, memory);
    std::uint64_t bytes = 0;
    for (const DeviceCopy& copy :
         pack_table({{Index3{1, 1, columns + more}, Index3{0, 7, 0}, Index3{0, -1, 0}}}, field).copies)
      bytes += std::uint64_t{copy.items} * copy.item_bytes;
    EXPECT_EQ(bytes, static_cast<std::uint64_t>(columns + more) * sizeof(double));
  }
}

struct PackCase {
  Index3 shape, halo;
};
class EmulatedPack : public ::testing::TestWithParam<PackCase> {};

TEST_P(EmulatedPack, CopiesWhatTheHostDoes) {
  const auto& [shape, halo] = GetParam();
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
    expect_as_by_host(images(shape, halo), shape, halo, precision);
  }
}

TEST_P(EmulatedPack, GathersAndScattersWhatTheHostDoes) {
  const auto& [shape, halo] = GetParam();
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
    std::vector<BoxCopy> gathered = images(shape, halo), scattered = gathered;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < gathered.size(); ++i) {
      gathered[i].to = scattered[i].from = bytes;
      bytes += round_up(static_cast<std::size_t>(volume(gathered[i].extent)) * storage_bytes(precision), 16);
    }
    Field wanted = random_field(shape, halo, precision), found = random_field(shape, halo, precision);
    std::vector<std::byte> of_host(bytes), buffer(bytes);
    HostPacker().prepare(gathered, wanted)->copy(wanted, of_host.data());
    copy_emulated(gathered, found, buffer.data());
    EXPECT_EQ(buffer, of_host);
    std::fill(buffer.begin(), buffer.end(), std::byte{});
    copy_emulated(gathered, found, buffer.data(), 50);
    EXPECT_EQ(buffer, of_host);
    HostPacker().prepare(scattered, wanted)->copy(wanted, of_host.data());
    copy_emulated(scattered, found, buffer.data());
    EXPECT_EQ(testing::points_of(found, found.allocated()), testing::points_of(wanted, wanted.allocated()));
    Field in_parts = random_field(shape, halo, precision);
    copy_emulated(scattered, in_parts, buffer.data(), 50);
    EXPECT_EQ(testing::points_of(in_parts, found.allocated()), testing::points_of(wanted, found.allocated()));
  }
}

/// Images beyond walls, mirrored along any axes, and with changed values except in 16 bits, whose conversions
/// are not emulated.
TEST_P(EmulatedPack, MakesTheImagesThatTheHostDoes) {
  const auto& [shape, halo] = GetParam();
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
    std::vector<BoxCopy> copies = images(shape, halo);
    std::mt19937 generator(3);
    for (BoxCopy& copy : copies) {
      for (bool& reversed : copy.reflection.reversed) reversed = generator() % 2;
      if (precision == Precision::fp16 || generator() % 3 == 0) continue;
      copy.reflection.scale = static_cast<double>(generator() % 3) - 1;
      copy.reflection.offset = 0.75;
    }
    expect_as_by_host(copies, shape, halo, precision);
  }
}

/// Walls of one value at both ends of rows: their ghost points, and the images that are mirrored about them.
TEST_P(EmulatedPack, MakesGhostsWithTheImagesAboutThem) {
  const auto& [shape, halo] = GetParam();
  constexpr double value = 0.375;
  const Reflection ghost{{false, false, true}, 0, value}, mirror{{false, false, true}, -1, 2 * value};
  const std::int64_t n = shape[x_axis], reach = halo[x_axis] - 1;
  const Index3 column{shape[0], shape[1], 1}, columns{shape[0], shape[1], reach};
  const std::vector<BoxCopy> copies{
      {columns, Index3{0, 0, 0}, Index3{0, 0, -1 - reach}, mirror},
      {column, Index3{0, 0, 0}, Index3{0, 0, -1}, ghost},
      {column, Index3{0, 0, n - 1}, Index3{0, 0, n}, ghost},
      {columns, Index3{0, 0, n - reach}, Index3{0, 0, n + 1}, mirror},
  };
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    expect_as_by_host(copies, shape, halo, precision);
    EXPECT_EQ(pack_table(copies, random_field(shape, halo, precision)).copies.size(), 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, EmulatedPack,
                         ::testing::Values(PackCase{{7, 13, 128}, {2, 3, 4}},   // rows of whole sectors
                                           PackCase{{5, 9, 37}, {1, 2, 3}},     // odd rows
                                           PackCase{{1, 11, 64}, {0, 4, 12}},   // more than a sector
                                           PackCase{{1, 1, 1031}, {0, 0, 40}},  // a line
                                           PackCase{{2, 3, 5},
                                                    {3, 4, 6}}));  // more copies than a warp has lanes

}  // namespace
}  // namespace spsolve::cuda
