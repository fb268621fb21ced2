// SPDX-License-Identifier: Apache-2.0
//
// Packed registers, read as the PTX ISA describes them, must be the matrix, and the emulated instruction must
// multiply by it.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "kernels/sparse/packed_operand.hpp"

namespace spsolve {
namespace {

constexpr std::array shapes{m16n8k16_fp16, m16n8k32_fp16, m16n8k16_bf16,
                            m16n8k32_bf16, m16n8k8_tf32,  m16n8k16_tf32};

/// Returns a random operand whose rows use every pattern of places, with as many weights as allowed or fewer.
Operand random_operand(std::mt19937_64& random, std::size_t rows, std::size_t columns, Sparsity sparsity) {
  WeightMatrix matrix{std::vector<Index3>(rows), std::vector<Index3>(columns),
                      std::vector<double>(rows * columns, 0.0)};
  for (std::size_t m = 0; m < rows; ++m)
    for (std::size_t first = 0; first < columns; first += sparsity.group)
      for (int n = 0; n < sparsity.kept; ++n) {
        const std::size_t k = first + random() % sparsity.group;
        if (k < columns) matrix.value(m, k) = std::uniform_real_distribution<double>(-2.0, 2.0)(random);
      }
  return compress(matrix, {1, 1, 1}, sparsity);
}

double rounded(Precision element, double value) {
  return element_value(element, element_bits(element, value));
}

/// Returns A(m, k) of a packed operand through the emulated instruction, where B is a unit matrix, eight
/// columns at a time.
double product_with_unit(const PackedOperand& packed, int m, int k) {
  const MmaShape& mma = packed.mma;
  const int step = k / mma.k, in_step = k % mma.k, block = m / (mma_rows * packed.warps);
  const int warp = m / mma_rows % packed.warps, n = k % mma_columns;
  WarpRegisters<std::uint32_t, 4> b{};
  WarpRegisters<float, 4> d{};
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < mma.b_registers(); ++i)
      if (b_column(lane) == n && b_word(lane, i) == in_step / mma.elements_per_word())
        b[lane][i] = element_bits(mma.element, 1.0) << (16 * (in_step % mma.elements_per_word()));
  sparse_mma(mma, packed.values_of(block, step, warp), packed.metadata_of(block, step, warp),
             step % mma.selectors(), b, d);
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < 4; ++i)
      if (c_row(lane, i) == m % mma_rows && c_column(lane, i) == n) return d[lane][i];
  return NAN;
}

class EveryShape : public ::testing::TestWithParam<MmaShape> {
 protected:
  MmaShape mma = GetParam();
  std::mt19937_64 random{static_cast<std::uint64_t>(mma.k)};
};

TEST_P(EveryShape, FragmentsHoldEveryElementOnce) {
  std::array<std::array<int, 32>, 16> a{}, b{}, c{};
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.a_registers(); ++i) ++a[a_row(lane, i)][a_word(lane, i)];
    for (int i = 0; i < mma.b_registers(); ++i) ++b[b_column(lane)][b_word(lane, i)];
    for (int i = 0; i < 4; ++i) ++c[c_row(lane, i)][c_column(lane, i)];
  }
  for (int row = 0; row < 16; ++row)
    for (int word = 0; word < 32; ++word) {
      EXPECT_EQ(a[row][word], word < mma.k_words() / 2);
      EXPECT_EQ(b[row][word], row < mma_columns && word < mma.k_words());
      EXPECT_EQ(c[row][word], word < mma_columns);
    }
}

TEST_P(EveryShape, SelectorsShareTheMetadataRegister) {
  std::array<std::uint32_t, warp_lanes> covered{};
  for (int selector = 0; selector < mma.selectors(); ++selector)
    for (int row = 0; row < mma_rows; ++row)
      for (int group = 0; group < mma.metadata_groups(); ++group) {
        const auto [lane, bit] = metadata_place(mma, row, group, selector);
        ASSERT_EQ(covered[lane] >> bit & 0xfu, 0u);
        covered[lane] |= 0xfu << bit;
      }
  for (const std::uint32_t word : covered) EXPECT_EQ(word, 0xffffffffu);
}

TEST_P(EveryShape, DecodesToTheMatrix) {
  for (int which = 0; which < 40; ++which) {
    const bool halves = which % 2 && mma.element != Precision::tf32;
    const std::size_t rows = 1 + random() % 70, columns = 1 + random() % 100;
    const Operand operand = random_operand(random, rows, columns, halves ? two_of_four : one_of_two);
    const WeightMatrix matrix = expand(operand);
    const bool four = mma == widest_mma(mma.element) && which % 4 < 2;
    const PackedOperand packed = pack(operand, mma, four ? MmaWarps::four : MmaWarps::one);
    EXPECT_EQ(packed.blocks, static_cast<int>((rows + 16 * packed.warps - 1) / (16 * packed.warps)));
    for (int m = 0; m < packed.blocks * packed.warps * mma_rows; m += 1 + static_cast<int>(random() % 3))
      for (int k = 0; k < packed.steps * mma.k; ++k) {
        const bool inside = m < static_cast<int>(rows) && k < static_cast<int>(matrix.columns());
        ASSERT_EQ(product_with_unit(packed, m, k), inside ? rounded(mma.element, matrix.value(m, k)) : 0.0)
            << "A(" << m << ", " << k << ")";
      }
  }
}

TEST_P(EveryShape, MultipliesAndAccumulates) {
  const Operand operand = random_operand(random, mma_rows, mma.k, mma.sparsity());
  const WeightMatrix matrix = expand(operand);
  const PackedOperand packed = pack(operand, mma);
  std::array<std::array<double, mma_columns>, 32> right{};
  WarpRegisters<std::uint32_t, 4> b{};
  WarpRegisters<float, 4> d{};
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.b_registers(); ++i)
      for (int e = 0; e < mma.elements_per_word(); ++e) {
        const double value = rounded(mma.element, std::uniform_real_distribution<double>(-1.0, 1.0)(random));
        right[b_word(lane, i) * mma.elements_per_word() + e][b_column(lane)] = value;
        b[lane][i] |= element_bits(mma.element, value) << (16 * e);
      }
    for (float& value : d[lane]) value = 0.25f;
  }
  sparse_mma(mma, packed.values.data(), packed.metadata.data(), 0, b, d);
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      double exact = 0.25, magnitude = 0.25;
      for (int k = 0; k < mma.k; ++k) {
        const double product =
            rounded(mma.element, matrix.value(c_row(lane, i), k)) * right[k][c_column(lane, i)];
        exact += product;
        magnitude += std::abs(product);
      }
      EXPECT_NEAR(d[lane][i], exact,
                  0.5 * mma.k * 0x1p-24 * magnitude * (1 + 0x1p-10));  // one rounding per product
    }
}

/// Returns 1 plus `products` products of a weight and 2^-12, which must be the same in all rows and columns.
float one_plus(const MmaShape& mma, int products, double weight) {
  const auto columns = static_cast<std::size_t>(mma.k);
  WeightMatrix matrix{std::vector<Index3>(mma_rows), std::vector<Index3>(columns),
                      std::vector<double>(mma_rows * columns, 0.0)};
  const Sparsity sparsity = mma.sparsity();
  for (std::size_t m = 0; m < mma_rows; ++m)
    for (int i = 0; i < products; ++i) {
      const int k = i / sparsity.kept * sparsity.group + i % sparsity.kept;
      matrix.value(m, static_cast<std::size_t>(k)) = weight;
    }
  const PackedOperand packed = pack(compress(matrix, {1, 1, 1}, sparsity), mma);
  WarpRegisters<std::uint32_t, 4> b{};
  WarpRegisters<float, 4> d{};
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.b_registers(); ++i)
      for (int e = 0; e < mma.elements_per_word(); ++e)
        b[lane][i] |= element_bits(mma.element, 0x1p-12) << (16 * e);
    d[lane].fill(1.0f);
  }
  sparse_mma(mma, packed.values.data(), packed.metadata.data(), 0, b, d);
  for (const auto& lane : d)
    for (const float sum : lane) EXPECT_EQ(sum, d[0][0]);
  return d[0][0];
}

/// The last bit of 1 in fp32 is 2^-23. Addends lose what lies below 2^-25, and the sum what lies below 2^-23.
TEST_P(EveryShape, CutsOffAddendsAndSums) {
  const int most = mma.k / 2;
  EXPECT_EQ(one_plus(mma, most, 0x1p-13), 1 + static_cast<float>(most) * 0x1p-25f);
  EXPECT_EQ(one_plus(mma, most, 0x1p-14), 1.0f) << "each of the products is 2^-26";
  EXPECT_EQ(one_plus(mma, 1, 0x3p-13), 1.0f) << "3/4 of the last bit";
}

TEST_P(EveryShape, RefusesUndefinedMetadata) {
  const PackedOperand packed = pack(random_operand(random, mma_rows, mma.k, one_of_two), mma);
  const WarpRegisters<std::uint32_t, 4> b{};
  WarpRegisters<float, 4> d{};
  for (const std::uint32_t code : {0b0000u, 0b0101u, 0b1010u, 0b1111u, 0b0001u}) {
    auto metadata = packed.metadata;
    metadata[0] = (metadata[0] & ~0xfu) | code;
    EXPECT_THROW(sparse_mma(mma, packed.values.data(), metadata.data(), 0, b, d), std::invalid_argument);
  }
  EXPECT_THROW(sparse_mma(mma, packed.values.data(), packed.metadata.data(), mma.selectors(), b, d),
               std::invalid_argument);
}

TEST_P(EveryShape, FragmentsLieAsTheIsaSays) {
  // These are the formulas of the PTX ISA, in elements, as printed for each shape: columns of A before
  // compression.
  const bool tf32 = mma.element == Precision::tf32;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const int group_id = lane >> 2, thread_in_group = lane % 4, chunk = tf32 ? 2 : 4;
    for (int i = 0; i < mma.a_registers(); ++i) {
      EXPECT_EQ(a_row(lane, i), i == 0 || i == 2 ? group_id : group_id + 8);
      const int first_column = thread_in_group * chunk + (i < 2 ? 0 : tf32 ? 8 : 16);
      EXPECT_EQ(2 * a_word(lane, i) * mma.elements_per_word(), first_column);
    }
    for (int i = 0; i < mma.b_registers();
         ++i) {  // as in the dense shape of the same k; the larger k continues the registers in the same way
      const int row = tf32 ? thread_in_group + 4 * i : thread_in_group * 2 + 8 * i;
      EXPECT_EQ(b_word(lane, i) * mma.elements_per_word(), row);
      EXPECT_EQ(b_column(lane), group_id);
    }
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(c_row(lane, i), i < 2 ? group_id : group_id + 8);
      EXPECT_EQ(c_column(lane, i), thread_in_group * 2 + (i & 1));
    }
  }
}

TEST_P(EveryShape, MetadataLiesAsTheIsaSays) {
  // With the smaller k, lane 4 g + selector holds rows g (bits 0-15) and g + 8 (bits 16-31). With the larger
  // k a pair of lanes does so, the first for the left half of the columns. A chunk of 4 columns (tf32: 2) has
  // four bits, from the low end.
  const bool tf32 = mma.element == Precision::tf32;
  const int chunk = tf32 ? 2 : 4, half_chunks = 4, lanes = mma.k == 4 * chunk ? 1 : 2;
  const Operand operand = random_operand(random, 16, 4 * mma.k, tf32 ? one_of_two : two_of_four);
  const PackedOperand packed = pack(operand, mma);
  EXPECT_EQ(mma.selectors(), 4 / lanes);
  for (int step = 0; step < 4; ++step)
    for (int row = 0; row < 16; ++row)
      for (int c = 0; c < mma.k / chunk; ++c) {
        const int lane = 4 * (row % 8) + step % (4 / lanes) * lanes + c / half_chunks;
        const std::uint32_t word = packed.metadata_of(0, step, 0)[lane];
        const std::uint32_t code = word >> (16 * (row / 8) + 4 * (c % half_chunks)) & 0xf;
        const std::uint8_t* kept = &operand.indices[row * operand.compressed_columns()];
        const int at = step * mma.k / chunk + c;
        const std::uint32_t places =
            tf32 ? (kept[at] ? 0b1110 : 0b0100) : kept[2 * at] | kept[2 * at + 1] << 2;
        EXPECT_EQ(code, places);
      }
}

INSTANTIATE_TEST_SUITE_P(SparseMma, EveryShape, ::testing::ValuesIn(shapes), [](const auto& which) {
  return std::string(to_string(which.param.element)) + "_k" + std::to_string(which.param.k);
});

TEST(Pack, FlippingBitOneChangesPairs) {
  // In an operand whose groups use one pair only, metadata xor 0xAAAAAAAA moves every weight to the other
  // pair.
  WeightMatrix matrix{std::vector<Index3>(16), std::vector<Index3>(32), std::vector<double>(16 * 32, 0.0)};
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 32; ++k)
      if (k / 2 % 2 == (m + k / 4) % 2 && (m + k) % 3) matrix.value(m, k) = 1 + m + k;
  PackedOperand packed = pack(compress(matrix, {1, 1, 1}, two_of_four), m16n8k32_fp16);
  for (std::uint32_t& word : packed.metadata) word ^= 0xAAAAAAAAu;
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 32; ++k) EXPECT_EQ(product_with_unit(packed, m, k), matrix.value(m, k ^ 2));
}

TEST(Pack, RefusesWhatTheInstructionCannotTake) {
  std::mt19937_64 random(5);
  EXPECT_THROW(pack(random_operand(random, 4, 8, two_of_four), m16n8k16_tf32), std::invalid_argument);
  EXPECT_THROW(pack(random_operand(random, 4, 8, dense), m16n8k32_fp16), std::invalid_argument);
  EXPECT_THROW(pack(random_operand(random, 4, 8, one_of_two), m16n8k16_fp16, MmaWarps::four),
               std::invalid_argument);
}

}  // namespace
}  // namespace spsolve
