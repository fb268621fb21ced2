// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "solver/diagnostics.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

/// Holds two states of a grid on a backend, decomposed over the ranks of a communicator.
struct States {
  Communicator ranks;
  Index3 shape;
  Backend* backend;
  Field now, before;

  States(const Communicator& communicator, Backend& on, const Index3& grid, Precision precision,
         const std::vector<double>& values_now, const std::vector<double>& values_before)
      : ranks(communicator),
        shape(grid),
        backend(&on),
        now(block(), {1, 2, 3}, precision, on.memory()),
        before(block(), {1, 2, 3}, precision, on.memory()) {
    const Domain domain{3, shape, {}};
    backend->set(now, testing::values_of(domain, values_now));
    backend->set(before, testing::values_of(domain, values_before));
  }

  Box block() const {
    return Decomposition(shape, min_surface_rank_grid(shape, ranks.size(), {1, 1, 1})).block(ranks.rank());
  }
  StateView view() { return {backend, &now, &before}; }
  Extremes found() { return extremes_of_all(ranks, shape, now.owned(), view().scan().extremes); }
  Diagnostics measured() { return measure(ranks, shape, view(), found()); }
};

std::vector<double> random_values(std::uint64_t seed, std::int64_t points, double scale) {
  auto values = testing::RandomCase(seed).uniform(points);
  for (double& value : values) value *= scale;
  return values;
}

void expect_same_bits(const Diagnostics& a, const Diagnostics& b) {
  for (const auto number :
       {&Diagnostics::min, &Diagnostics::max, &Diagnostics::mean, &Diagnostics::l2, &Diagnostics::change_l2})
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.*number), std::bit_cast<std::uint64_t>(b.*number))
        << a.*number << " " << b.*number;
}

constexpr Index3 shape{7, 11, 29};
constexpr double infinity = std::numeric_limits<double>::infinity();

class DiagnosticsOn : public testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DiagnosticsOn, testing::devices());

TEST_P(DiagnosticsOn, MatchLongDoubleSumsAtAnyScale) {
  for (auto& on : backends)
    for (const double scale : {1.0, 1e-200, 1e200}) {
      SCOPED_TRACE(on.name);
      const auto now = random_values(5, volume(shape), scale),
                 before = random_values(6, volume(shape), scale);
      long double sum = 0, squares = 0, changes = 0;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const long double value = now[i], change = value - before[i];
        sum += value, squares += value * value, changes += change * change;
      }
      const Diagnostics found = States(world, *on.backend, shape, Precision::fp64, now, before).measured();
      EXPECT_EQ(found.min, *std::min_element(now.begin(), now.end()));
      EXPECT_EQ(found.max, *std::max_element(now.begin(), now.end()));
      // Squares are rounded one by one and sums are exact, so the norm is off by a few units in the last
      // place.
      EXPECT_NEAR(found.mean, static_cast<double>(sum / volume(shape)), 0x1p-52 * scale);
      EXPECT_NEAR(found.l2, static_cast<double>(std::sqrt(squares)), 4 * 0x1p-53 * found.l2);
      EXPECT_NEAR(found.change_l2, static_cast<double>(std::sqrt(changes)), 4 * 0x1p-53 * found.change_l2);
    }
}

/// Tests every precision and rows longer and shorter than a warp's share, down to one point.
TEST_P(DiagnosticsOn, HaveTheSameBitsOnAnyNumberOfRanksAndOnAnyDevice) {
  const Communicator self(MPI_COMM_SELF);
  const auto alone = testing::cpu_backend(self);
  for (const Index3& grid :
       {shape, Index3{1, 1, 5003}, Index3{1, 97, 1}, Index3{401, 13, 2}, Index3{5, 3, 1025}})
    for (const Precision precision : all_precisions) {
      const auto now = random_values(5, volume(grid), 3.7), before = random_values(6, volume(grid), 3.7);
      const Diagnostics expected = States(self, *alone.backend, grid, precision, now, before).measured();
      for (auto& on : backends) {
        SCOPED_TRACE(on.name);
        expect_same_bits(States(world, *on.backend, grid, precision, now, before).measured(), expected);
      }
    }
}

/// The order of the ranks decides which of two zeros is the minimum, so results must not have a sign.
TEST_P(DiagnosticsOn, OfZeroAreZeroWithoutASign) {
  for (auto& on : backends)
    for (const double zero : {0.0, -0.0}) {
      std::vector<double> values(static_cast<std::size_t>(volume(shape)), zero);
      values[volume(shape) / 2] = -zero;
      expect_same_bits(States(world, *on.backend, shape, Precision::fp64, values, values).measured(), {});
    }
}

TEST_P(DiagnosticsOn, OfSubnormalValuesAndChangesAreFinite) {
  for (auto& on : backends) {
    SCOPED_TRACE(on.name);
    const std::vector<double> least(static_cast<std::size_t>(volume(shape)), 0x1p-1030),
        zeros(least.size(), 0.0), ones(least.size(), 1.0);
    const double norm = 0x1p-1030 * std::sqrt(static_cast<double>(volume(shape)));
    const Diagnostics small = States(world, *on.backend, shape, Precision::fp64, least, zeros).measured();
    EXPECT_EQ(small.mean, 0x1p-1030);
    EXPECT_NEAR(small.l2, norm, 0x1p-1074);
    EXPECT_NEAR(small.change_l2, norm, 0x1p-1074);
    auto changed = ones;
    changed.front() = 0x1p-1074;
    auto before = ones;
    before.front() = 0;
    const Diagnostics one = States(world, *on.backend, shape, Precision::fp64, changed, before).measured();
    EXPECT_EQ(one.change_l2, 0.0) << "its square is below what sums keep";
    EXPECT_EQ(one.l2, std::sqrt(static_cast<double>(volume(shape) - 1)));
  }
}

TEST_P(DiagnosticsOn, OfTheLargestValuesAreInfiniteOnlyWhereTheyAre) {
  for (auto& on : backends) {
    SCOPED_TRACE(on.name);
    const std::vector<double> large(static_cast<std::size_t>(volume(shape)), 0x1p1023),
        opposite(large.size(), -0x1p1023);
    const Diagnostics found = States(world, *on.backend, shape, Precision::fp64, large, opposite).measured();
    EXPECT_EQ(found.mean, 0x1p1023);
    EXPECT_EQ(found.l2, infinity) << "2^1023 sqrt(2233)";
    EXPECT_EQ(found.change_l2, infinity) << "each change is 2^1024";

    const std::vector<double> high(large.size(), 0x1p1000), zero(large.size());
    const Diagnostics falling = States(world, *on.backend, shape, Precision::fp64, zero, high).measured();
    EXPECT_EQ(falling.change_l2, 0x1p1000 * std::sqrt(static_cast<double>(volume(shape))));
  }
}

TEST_P(DiagnosticsOn, FindTheFirstPointThatIsNotFinite) {
  for (auto& on : backends)
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16})
      for (const double value : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
        SCOPED_TRACE(on.name);
        auto values = random_values(5, volume(shape), 1.0);
        EXPECT_FALSE(
            first_not_finite(States(world, *on.backend, shape, precision, values, values).found(), shape));
        for (const Index3& place : {Index3{6, 10, 28}, Index3{3, 0, 17}, Index3{3, 1, 2}, Index3{0, 0, 0}}) {
          values[static_cast<std::size_t>(index_of(place, shape))] = value;
          const auto found =
              first_not_finite(States(world, *on.backend, shape, precision, values, values).found(), shape);
          ASSERT_TRUE(found);
          EXPECT_EQ(*found, (place == Index3{3, 1, 2} ? Index3{3, 0, 17} : place));
        }
      }
}

double rounded(double value, Precision precision) {
  return with_storage(precision, [&]<class Storage>() { return stored_value(to_storage<Storage>(value)); });
}

/// Blocks begin anywhere, and two copies exist at a time, with and without prepared memory, which later
/// copies of other values use again. The same pass must also give the same extremes.
TEST_P(DiagnosticsOn, LooksKeepEveryPointOfTheStride) {
  using enum Precision;
  constexpr std::pair<Precision, Precision> formats[] = {{fp64, fp64}, {fp64, fp32}, {fp32, fp32},
                                                         {tf32, tf32}, {bf16, bf16}, {fp16, fp16}};
  for (const Index3& grid : {shape, Index3{1, 1, 5003}, Index3{5, 3, 1025}})
    for (const auto& [precision, kept] : formats)
      for (const std::int64_t stride : {1, 3, 40})
        for (auto& on : backends) {
          SCOPED_TRACE(on.name);
          const auto now = random_values(5, volume(grid), 3.7), before = random_values(6, volume(grid), 3.7);
          States states(world, *on.backend, grid, precision, now, before);
          const Box& block = states.now.owned();
          const Sampling sampling{stride, kept};
          if (stride > 1) on.backend->prepare_copies(block, sampling, 2, 0, stride > 3);
          const Extremes plain = states.view().scan().extremes,
                         kept_too = states.view().scan(sampling).extremes;
          EXPECT_EQ(kept_too.min, plain.min);
          EXPECT_EQ(kept_too.max, plain.max);
          EXPECT_EQ(kept_too.largest_change, plain.largest_change);
          std::vector<std::pair<StateView, const std::vector<double>*>> looks{
              {states.view(), &now}, {StateView{on.backend.get(), &states.before, nullptr}, &before}};
          for (int turn = 0; turn < 2; ++turn) {
            std::vector<ScanResult> scanned;
            for (const auto& [view, values] : looks) scanned.push_back(view.scan(sampling));
            for (std::size_t look = 0; look < looks.size(); ++look) {
              const ReadableField found = scanned[look].copy->readable();
              const Box& box = found.field->owned();
              ASSERT_EQ(box, sampling.sampled(block));
              for_each_point(box, [&](const Index3& p) {
                const auto place = static_cast<std::size_t>(index_of(stride * p, grid));
                double value = 0;
                convert(found.field->precision(), found.on_host(p, 1), 1, 1, Precision::fp64,
                        reinterpret_cast<std::byte*>(&value));
                ASSERT_EQ(value, rounded(rounded((*looks[look].second)[place], precision),
                                         found.field->precision()));
              });
            }
            std::swap(looks[0], looks[1]);
          }
        }
}

}  // namespace
}  // namespace spsolve
